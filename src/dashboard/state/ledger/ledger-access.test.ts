import { expect, test } from "bun:test";
import { ERRORS } from "../../../core/errors.ts";
import type { EventPage } from "../../../core/wire/event.ts";
import { Pace } from "../../api/pace.ts";
import { type ApiError, type Outcome, UNREACHABLE } from "../../api/request.ts";
import { LedgerAccess } from "./ledger-access.ts";

function fail(code: number): Outcome<EventPage> {
  return { ok: false, error: { code } as ApiError, receivedAt: Date.now(), limit: undefined };
}

test("a Gatehouse without an archive is asked once, and again after a restart", async () => {
  const pace = new Pace();
  let requests = 0;
  let code: number = ERRORS.notConfigured.code;
  const readEvents = async () => {
    requests++;
    return fail(code);
  };
  const access = new LedgerAccess({ readEvents }, pace);
  const changes: boolean[] = [];
  access.subscribe(() => changes.push(access.isOff));
  for (let reads = 0; reads < 3; reads++) {
    expect(await access.readEvents({})).toMatchObject({ ok: false, error: { code } });
  }
  expect(requests).toBe(1);
  expect(access.isOff).toBe(true);

  pace.observe(fail(UNREACHABLE));
  pace.observe(fail(ERRORS.unavailable.code));
  expect(access.isOff).toBe(false);
  code = ERRORS.unavailable.code;
  await access.readEvents({});
  await access.readEvents({});
  expect(requests).toBe(3);
  expect(changes).toEqual([true, false]);
});
