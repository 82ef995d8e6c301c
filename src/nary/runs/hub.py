"""Model folders on the Hugging Face Hub, at addresses such as ``hf://owner/name`` and ``hf://owner/name@revision``.

A repository is a model folder of a stranger: only files that its manifest lists are downloaded, only after their sizes
were compared with it, and their checksums are compared afterwards.
"""

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nary.errors import MissingExtraError, NaryError
from nary.files.manifest import MANIFEST, Entry, IntegrityError, check_manifest, read_manifest
from nary.files.reading import MAX_DOCUMENT
from nary.inference.folder import CARD_FILE, WEIGHTS_FILE, ModelFolderError, check_files, read_description
from nary.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_SCHEME = re.compile("^hf://?")  # a Path has lost the second slash
_LOG_IN = "For a private model, set HF_TOKEN, or log in with: hf auth login"


class HubError(NaryError):
    """A model cannot be downloaded from the hub, or not be uploaded."""

    kind = "hub"


@dataclass(frozen=True)
class HubAddress:
    """A repository on the hub and, if not its newest, a revision: a branch, a tag or a commit."""

    repository: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> "HubAddress":
        """Read ``hf://owner/name`` or ``hf://owner/name@revision``."""
        match = re.fullmatch(r"([\w.-]+/[\w.-]+)(?:@(\S+))?", _SCHEME.sub("", text))
        if match is None:
            raise HubError(
                f"{text!r} is no address on the hub", "Expected hf://OWNER/NAME or hf://OWNER/NAME@REVISION."
            )
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"hf://{self.repository}" + (f"@{self.revision}" if self.revision else "")


def is_hub_address(path: str | Path) -> bool:
    """Whether ``path`` is an address on the hub, not a folder."""
    return _SCHEME.match(str(path)) is not None


def download(address: str) -> Path:
    """Download a model folder into the cache of ``huggingface_hub``; what is there already is not downloaded again.

    Without a connection, the copy in the cache is used.
    """
    where = HubAddress.parse(address)
    api = _api("hf:// addresses")
    with _explained(where, api):
        offline = os.environ.get("NARY_OFFLINE", "") not in ("", "0")
        sizes = None if offline else _sizes(api, where)
        path = api.hf_hub_download(where.repository, MANIFEST, revision=where.revision, local_files_only=sizes is None)
        folder = Path(path).parent
        entries = read_manifest(folder) or {}
        if sizes is not None:
            _check_sizes(where, entries, sizes)
            for name in entries:
                api.hf_hub_download(where.repository, name, revision=folder.name)  # which is the commit
    check_manifest(folder, [CARD_FILE])
    return folder


def upload(folder: Path, repository: str, public: bool = False) -> HubAddress:
    """Upload a model folder as one commit; a repository that does not exist is created, private by default."""
    api = _api("nary push")
    from huggingface_hub import CommitOperationAdd

    where = HubAddress.parse(repository)
    read_description(folder)
    entries = read_manifest(folder)
    if entries is None:
        raise ModelFolderError(f"{folder} has no {MANIFEST}", "nary verify --update makes one.")
    if not (folder / WEIGHTS_FILE).is_file():
        raise ModelFolderError(f"{folder} has no weights yet", "nary train --resume RUN continues its training.")
    check_files(folder)
    with _explained(where, api):
        if api.token is None:
            raise HubError("pushing a model needs a token", "Set HF_TOKEN, or log in with: hf auth login")
        api.create_repo(where.repository, private=not public, exist_ok=True)
        operations = [CommitOperationAdd(name, folder / name) for name in (*entries, MANIFEST)]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "It seems that you are about to commit a data file")  # the stored facts
            commit = api.create_commit(where.repository, operations, commit_message="Model", revision=where.revision)
    return HubAddress(where.repository, commit.oid)


def _api(purpose: str) -> "HfApi":
    try:
        from huggingface_hub import HfApi, get_token
    except ImportError:
        raise MissingExtraError(purpose, "hub") from None
    endpoint = os.environ.get("HF_ENDPOINT")  # as it is now, not when the client was imported
    return HfApi(endpoint, get_token(), library_name="nary", library_version=__version__)


def _http_error() -> type[Exception]:
    """What all errors of the connection derive from; the HTTP library of the client depends on its version."""
    from huggingface_hub.errors import HfHubHTTPError

    return HfHubHTTPError.__bases__[0]


def _sizes(api: "HfApi", where: HubAddress) -> dict[str, int | None] | None:
    """The files of a repository and their sizes; None without a connection."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        info = api.model_info(where.repository, revision=where.revision, files_metadata=True)
    except HfHubHTTPError:
        raise
    except (ConnectionError, _http_error()):
        return None
    sizes = {file.rfilename: file.size for file in info.siblings or []}
    if (sizes.get(MANIFEST) or 0) > MAX_DOCUMENT:
        raise IntegrityError(f"{sizes[MANIFEST]:,} bytes are too many for a manifest", file=f"{where}/{MANIFEST}")
    return sizes


def _check_sizes(where: HubAddress, entries: Mapping[str, Entry], sizes: Mapping[str, int | None]) -> None:
    """Refuse files that are missing or of other sizes before they are downloaded; the card may be edited."""
    for name, entry in entries.items():
        size = sizes.get(name)
        if size is None or (size != entry.size and name != CARD_FILE):
            reason = "missing" if size is None else f"it has {size:,} bytes, and {entry.size:,} according to {MANIFEST}"
            raise IntegrityError(reason, "Tell its owner, or use another revision.", f"{where}/{name}")


@contextmanager
def _explained(where: HubAddress, api: "HfApi") -> Iterator[None]:
    """Say what an error of the client means."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError:
        raise HubError(f"the owner of {where} decides who may use it", "Ask on its page, then log in.") from None
    except errors.RepositoryNotFoundError:
        raise HubError(f"there is no model {where}, or it is private", f"Check the name. {_LOG_IN}") from None
    except errors.RevisionNotFoundError:
        raise HubError(f"hf://{where.repository} has no revision {where.revision!r}", "Check its history.") from None
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        raise HubError(
            f"{where} is not in the cache, and {api.endpoint} cannot be reached",
            "Check the connection, and that neither NARY_OFFLINE nor HF_HUB_OFFLINE is set.",
        ) from None
    except errors.EntryNotFoundError:
        raise HubError(f"{where} is no model of Nary: it has no {MANIFEST}", "nary push makes one.") from None
    except errors.HFValidationError as error:
        raise HubError(f"{where.repository!r} is no name of a repository: {error}", "Expected OWNER/NAME.") from None
    except errors.HfHubHTTPError as error:
        reason = error.server_message or " ".join(str(error).split())
        raise HubError(f"{api.endpoint} answers: {reason}", _LOG_IN) from None
    except _http_error() as error:
        raise HubError(f"{api.endpoint} cannot be reached: {error}", "Check the connection.") from None
