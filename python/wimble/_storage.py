"""Where studies are kept: addresses, and the tokens of servers."""

from __future__ import annotations

import os

from wimble._errors import InvalidError

#: The variable with the token for a server.
TOKEN = "WIMBLE_TOKEN"


def address(
    storage: str | os.PathLike[str] | None, token: str | None = None, *, from_environment: bool = True
) -> str | None:
    """The address of a storage, with the token in it if it is a server's; None for memory.

    A token is that of the argument, that of the address (`http://:TOKEN@host`), or that of the environment. The last is for
    the storage that a user names for a study, and for no other.
    """
    if storage is None:
        return None
    place = os.fspath(storage)
    if not place.startswith(("http://", "https://")):
        if token is not None:
            raise InvalidError(
                "token is given, but only a server (http://…) takes one, and the storage is none", {"field": "token"}
            )
        return place
    if "@" in place:
        if token is not None:
            raise InvalidError("the address of the storage has a token already; give it once", {"field": "token"})
        return place
    if token is None and from_environment:
        token = os.environ.get(TOKEN)
    return place.replace("://", f"://:{token}@", 1) if token else place
