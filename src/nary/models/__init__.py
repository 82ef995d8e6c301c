"""The models, and what each of them promises."""
