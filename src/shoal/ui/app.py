"""The addresses of the server. Nothing is logged: neither what is asked nor what is answered."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ..errors import DataError, InternalError, ParameterError, ShoalError
from ..presets import SensitiveFacts, preset
from .guard import Guard, Keys, refused
from .spaces import DEMO, OtherTabError, Spaces, plain_name

LARGEST_UPLOAD = 100 << 20  # bytes; more goes by path
_LARGEST_QUESTION = 16 << 20  # a hierarchy in a policy can be long
_LARGEST_HIERARCHY = 8 << 20
_QUIET = 15.0  # seconds after which a stream shows that it is alive
_STATIC = Path(str(files("shoal.ui") / "static"))


def make_app(folder: Path, keys: Keys, port: int, *, largest_upload: int = LARGEST_UPLOAD) -> Guard:
    """Return the application; `folder` is private to it and holds whatever it stores."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.spaces.pool.prepare()
        yield
        await app.state.spaces.close_all()

    app = Starlette(routes=_ROUTES, lifespan=lifespan, exception_handlers={ShoalError: _explained})
    app.add_exception_handler(Exception, _unforeseen)
    app.state.spaces = Spaces(folder)
    app.state.keys = keys
    app.state.largest_upload = largest_upload
    return Guard(app, keys, port)


async def _explained(request: Request, error: Exception) -> Response:
    assert isinstance(error, ShoalError)
    status = 409 if isinstance(error, OtherTabError) else 404 if error.code == "S504" else 400
    return refused(status, error.message, error.hint, error.code)


async def _unforeseen(request: Request, error: Exception) -> Response:
    found = InternalError.of(error)
    return refused(500, found.message, found.hint, found.code)


async def _page(request: Request) -> Response:
    return FileResponse(_STATIC / "index.html")


async def _enter(request: Request) -> Response:
    token = request.app.state.keys.enter(str((await _body(request)).get("word", "")))
    return JSONResponse({"token": token}) if token else refused(401, "This link has been used.")


async def _about(request: Request) -> Response:
    forms = await _spaces(request).forms()
    return JSONResponse({**forms, "largest_upload": request.app.state.largest_upload})


async def _list(request: Request) -> Response:
    return JSONResponse({"spaces": [space.to_dict() for space in _spaces(request).all()]})


async def _new(request: Request) -> Response:
    body = await _body(request)
    if body.get("demo"):
        space = _spaces(request).new("demo", DEMO, {})
    else:
        name, place = _placed(str(body.get("path", "")).strip())
        space = _spaces(request).new("path", name, {"path": place, **_reading(body)})
    space.open()
    return JSONResponse(space.to_dict())


def _placed(given: str) -> tuple[str, str]:
    """Return what a file or a database's table is called, and where it is; no name holds a password."""
    from ..io.databases.address import parse

    if not given:
        raise ParameterError("no path is given", hint="Such as /home/me/patients.csv.")
    if "://" not in given:
        given = str(Path(given).expanduser())
    address = parse(given)
    return (Path(given).name if address is None else address.label), given


def _reading(given: Any) -> dict[str, Any]:
    """Return how a file is to be read, as far as that is said."""
    found = {key: given[key] for key in ("delimiter", "encoding") if given.get(key)}
    if given.get("null"):
        found["nulls"] = ["", str(given["null"])]
    return found


async def _upload(request: Request) -> Response:
    spaces = _spaces(request)
    name = plain_name(request.query_params.get("name", ""))
    folder = spaces.new_folder()
    path = folder / name
    try:
        await _receive(request, path, request.app.state.largest_upload)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            folder.rmdir()
        raise
    space = spaces.new("upload", name, {"path": str(path), **_reading(request.query_params)})
    path.rename(space.folder / name)
    folder.rmdir()
    space.source = {**space.source, "path": str(space.folder / name)}
    space.open()
    return JSONResponse(space.to_dict())


async def _receive(request: Request, path: Path, most: int) -> None:
    """Write a body to a file as it comes, and stop as soon as it is too much."""
    refusal = DataError(
        f"the file is larger than {most >> 20} MB, which is too much to upload",
        hint="Give its path instead: it is read where it is.",
        code="S505",
    )
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise refusal
    received = 0
    try:
        with path.open("xb") as target:
            async for chunk in request.stream():
                received += len(chunk)
                if received > most:
                    raise refusal
                target.write(chunk)
    except ClientDisconnect:
        raise DataError("the upload was interrupted", hint="Choose the file again.") from None
    except OSError as error:
        raise DataError(f"the file cannot be kept: {error.strerror}", hint="Give its path instead.") from None


async def _space(request: Request) -> Response:
    return JSONResponse(_of(request).to_dict())


async def _close(request: Request) -> Response:
    await _spaces(request).close(_of(request).id)
    return JSONResponse({})


async def _save(request: Request) -> Response:
    body = await _body(request)
    version, document = body.get("version"), body.get("document")
    if not isinstance(version, int) or not isinstance(document, dict):
        raise ParameterError("a document and its version are needed")
    return JSONResponse({"version": _of(request).save(version, document)})


async def _ask(request: Request) -> Response:
    body = await _body(request)
    return _outcome(await _of(request).ask(str(body.get("task")), _given(body)))


async def _hierarchy(request: Request) -> Response:
    space = _of(request)
    path = space.folder / "hierarchy.csv"
    path.unlink(missing_ok=True)
    try:
        await _receive(request, path, _LARGEST_HIERARCHY)
        return _outcome(await space.put("read-hierarchy", {"path": str(path)}))
    finally:
        path.unlink(missing_ok=True)


async def _preset(request: Request) -> Response:
    body, chosen = await _body(request), preset(request.path_params["name"])
    try:
        facts = [SensitiveFacts(**column) for column in body.get("sensitive", [])]
    except TypeError:
        raise ParameterError("sensitive columns need a name, a count and whether they are ordered") from None
    return JSONResponse({"models": chosen.models(facts), "suppression": chosen.suppression})


async def _start(request: Request) -> Response:
    body = await _body(request)
    job = _of(request).start(str(body.get("task")), _given(body))
    return JSONResponse({"id": job.id})


async def _cancel(request: Request) -> Response:
    await _of(request).cancel(request.path_params["job"])
    return JSONResponse({})


async def _events(request: Request) -> Response:
    job = _of(request).job(request.path_params["job"])

    async def stream() -> AsyncIterator[str]:
        async for state in job.watch(_QUIET):
            yield ": still here\n\n" if state is None else f"data: {json.dumps(state)}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


async def _all_events(request: Request) -> Response:
    space = _of(request)

    async def stream() -> AsyncIterator[str]:
        async for news in space.watch(_QUIET):
            yield ": still here\n\n" if news is None else f"data: {json.dumps(news)}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


async def _ticket(request: Request) -> Response:
    body, space = await _body(request), _of(request)
    path = space.file(request.path_params["job"], str(body.get("file", "")))
    return JSONResponse({"href": f"/download/{request.app.state.keys.ticket(str(path))}"})


async def _download(request: Request) -> Response:
    path = request.app.state.keys.redeem(request.path_params["ticket"])
    if path is None:
        return refused(404, "This download link has been used or is too old.", "Ask for it again.")
    return FileResponse(path, filename=Path(path).name, media_type="application/octet-stream")


def _spaces(request: Request) -> Spaces:
    found: Spaces = request.app.state.spaces
    return found


def _of(request: Request) -> Any:
    return _spaces(request).get(request.path_params["space"])


async def _body(request: Request) -> dict[str, Any]:
    """Return a small JSON body."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > _LARGEST_QUESTION:
            raise ParameterError("the question is too long")
    try:
        found = json.loads(content or b"{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ParameterError("the question is not a JSON object")
    return found


def _given(body: dict[str, Any]) -> dict[str, Any]:
    given = body.get("given", {})
    if not isinstance(given, dict):
        raise ParameterError("'given' must be an object")
    return given


def _outcome(state: dict[str, Any]) -> Response:
    """Return the answer to a short question; that it was refused is an answer, too."""
    if "result" in state:
        return JSONResponse(state["result"])
    error = state.get("error") or {"code": "S502", "message": "the work ended", "hint": "Try again."}
    return JSONResponse({"error": error})


_AT = "/api/spaces/{space}"
_ROUTES = [
    Route("/", _page),
    Mount("/static", StaticFiles(directory=_STATIC)),
    Route("/download/{ticket}", _download),
    Route("/api/enter", _enter, methods=["POST"]),
    Route("/api/about", _about),
    Route("/api/presets/{name}", _preset, methods=["POST"]),
    Route("/api/spaces", _list),
    Route("/api/spaces", _new, methods=["POST"]),
    Route("/api/upload", _upload, methods=["POST"]),
    Route(_AT, _space),
    Route(_AT, _close, methods=["DELETE"]),
    Route(f"{_AT}/document", _save, methods=["PUT"]),
    Route(f"{_AT}/ask", _ask, methods=["POST"]),
    Route(f"{_AT}/hierarchy", _hierarchy, methods=["POST"]),
    Route(f"{_AT}/jobs", _start, methods=["POST"]),
    Route(f"{_AT}/events", _all_events),
    Route(_AT + "/jobs/{job}", _cancel, methods=["DELETE"]),
    Route(_AT + "/jobs/{job}/events", _events),
    Route(_AT + "/jobs/{job}/files", _ticket, methods=["POST"]),
]
