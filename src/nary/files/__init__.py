"""Safe access to files, for everything that Nary promises to read, keep or write whole.

``reading`` opens regular files only, of a bounded size. ``writing`` makes files and folders appear whole or not at all,
also after a crash of the machine. ``locks`` keeps processes from writing to one place at once. ``manifest`` holds the
checksums of a folder and changes its files together.
"""
