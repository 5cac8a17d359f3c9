"""Runs cases.json with the Python client, blocking or (`async`) on asyncio, and prints each case that fails."""

import asyncio
import inspect
import json
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "../../packages/python"))

import gatehouse_client as client  # noqa: E402
from gatehouse_client import GatehouseError, pages, split_player, verify_webhook  # noqa: E402

TOKEN = "gth_test"


class Stage:
    """Takes the place of the network, of the waits and of the clock."""

    def __init__(self, case):
        self.left = list(case.get("answers", []))
        self.asked = []
        self.waits = []
        self.outages = []
        self.now = 0.0

    def answer(self, step):
        self.asked.append(step)
        answer = self.left.pop(0)
        if isinstance(answer, str):
            raise client._Lost(answer, is_late=answer == "late")
        self.now += answer.get("takes", 0)
        headers = {name.lower(): value for name, value in answer.get("headers", {}).items()}
        if "stream" in answer:
            return client._Reply(200, {**headers, "content-type": "text/event-stream"}, b""), answer["stream"]
        text = answer.get("text", json.dumps(answer["body"]) if "body" in answer else "")
        return client._Reply(answer.get("status", 200), headers, text.encode()), None

    def wait_for(self, seconds):
        self.waits.append(seconds)
        self.now += seconds


class Stream:
    def __init__(self, pieces):
        self.pieces = list(pieces)

    def take(self):
        return self.pieces.pop(0).encode() if self.pieces else b""

    def close(self):
        pass


class BlockingStream(Stream):
    def read(self, _timeout):
        return self.take()


class AsyncStream(Stream):
    async def read(self, _timeout):
        return self.take()


class BlockingWire(client._Wire):
    def __init__(self, stage):
        self.stage = stage

    def send(self, step):
        return self.stage.answer(step)[0]

    def open(self, step):
        reply, pieces = self.stage.answer(step)
        return reply, None if pieces is None else BlockingStream(pieces)

    def wait(self, seconds, stop=None):
        self.stage.wait_for(seconds)


class AsyncWire(client._AsyncWire):
    def __init__(self, stage):
        self.stage = stage

    async def send(self, step):
        return self.stage.answer(step)[0]

    async def open(self, step):
        reply, pieces = self.stage.answer(step)
        return reply, None if pieces is None else AsyncStream(pieces)

    async def wait(self, seconds):
        self.stage.wait_for(seconds)


def make_client(stage, is_async):
    gatehouse = (client.AsyncGatehouse if is_async else client.Gatehouse)("http://127.0.0.1:1/gate/", TOKEN)
    wire = (AsyncWire if is_async else BlockingWire)(stage)
    for part in (gatehouse, gatehouse.server, gatehouse.commands, gatehouse.players, gatehouse.modcalls, gatehouse.history):
        part._wire = wire
    gatehouse._core.clock = lambda: stage.now
    gatehouse._core.random = lambda: 0.5
    return gatehouse


def find_method(owner, name):
    for part in name.split("."):
        owner = getattr(owner, part)
    return owner


async def settle(value):
    return await value if inspect.isawaitable(value) else value


async def act(case, stage, gatehouse, is_async):
    if "split" in case:
        return split_player(case["split"])._asdict()
    if "webhook" in case:
        return verify_webhook(**case["webhook"])
    options = {"from_" if name == "from" else name: value for name, value in case.get("with", {}).items()}
    if "pages" in case:
        read = pages(find_method(gatehouse, case["pages"]), **options)
        return [page async for page in read] if is_async else list(read)
    if "events" in case:
        events = gatehouse.events(**case["events"], on_outage=lambda *outage: stage.outages.append(outage))
        taken = []
        while len(taken) < case["takes"]:
            taken.append(await events.__anext__() if is_async else next(events))
        assert events.cursor == case.get("at"), events.cursor
        return taken
    result = await settle(find_method(gatehouse, case["call"])(*case.get("args", []), **options))
    return await settle(find_method(result, case["then"])()) if "then" in case else result


def check_request(step, wanted):
    address = urlsplit(step.path)
    headers = {name.lower(): value for name, value in step.headers.items()}
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert getattr(step, "method", "GET") == wanted["method"]
    assert address.path == wanted["path"], address.path
    assert dict(parse_qsl(address.query)) == wanted.get("query", {}), address.query
    for name in wanted.get("has", []):
        assert headers[name.lower()]
    for name, value in wanted.get("headers", {}).items():
        assert headers[name.lower()] == value, headers
    if "body" in wanted:
        assert (json.loads(step.body) if step.body else None) == wanted["body"], step.body


async def check(case, is_async):
    stage = Stage(case)
    gatehouse = make_client(stage, is_async)
    raises = case.get("raises")
    try:
        value = await act(case, stage, gatehouse, is_async)
    except GatehouseError as error:
        assert isinstance(raises, dict), error
        for name, wanted in raises.items():
            found = str(error) if name == "text" else getattr(error, name)
            assert found == wanted, f"{name} is {found!r}"
    except ValueError:
        if raises != "mistake":
            raise
    else:
        assert raises is None, f"it gave {value!r}"
        assert (vars(value)["id"] if case.get("call") == "commands.send" else value) == (
            case["returns"]["id"] if case.get("call") == "commands.send" else case["returns"]
        ), f"it gave {value!r}"
    if "asks" in case:
        assert len(stage.asked) == len(case["asks"]), stage.asked
        for step, wanted in zip(stage.asked, case["asks"]):
            check_request(step, wanted)
    if "waits" in case:
        assert stage.waits == case["waits"], stage.waits
    assert not stage.left, stage.left
    if "outages" in case:
        assert len(stage.outages) == case["outages"]
    if "limit" in case:
        assert gatehouse.limit._asdict() == case["limit"], gatehouse.limit


async def main():
    cases = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
    failures = 0
    for case in cases:
        try:
            await check(case, "async" in sys.argv)
        except Exception as error:
            failures += 1
            print(f"{case['title']}: {type(error).__name__} {error}")
    print(f"{len(cases) - failures} of {len(cases)} cases hold")


asyncio.run(main())
