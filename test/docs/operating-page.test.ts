// The ceilings that docs/operating.md names are those of the code.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AUTHORIZATION_LENGTH_MAX } from "../../src/core/bearer.ts";
import { TYPES_LENGTH_MAX, TYPES_MAX } from "../../src/core/events/event-types.ts";
import { WAITING_EVENTS_MAX } from "../../src/gateway/events/event-recorder.ts";
import { ASKING_ADDRESSES_MAX } from "../../src/gateway/status/address-limit.ts";
import { STATUSES_MAX } from "../../src/gateway/status/public-statuses.ts";
import { HOPS_MAX } from "../../src/http/client-address.ts";
import { ACCEPT_ENCODING_LENGTH_MAX, IF_NONE_MATCH_LENGTH_MAX } from "../../src/http/conditional.ts";
import { COOKIE_LENGTH_MAX } from "../../src/http/device-cookie.ts";
import { GUESTS_MAX } from "../../src/http/event-socket.ts";
import { HELD_BYTES_MAX } from "../../src/http/held-bodies.ts";
import { BODY_BYTES_MAX } from "../../src/http/json-body.ts";
import { SOCKET_FRAME_BYTES_MAX } from "../../src/http/listen.ts";
import { PARAMETERS_MAX } from "../../src/http/parse-request.ts";
import { ACCEPT_LANGUAGE_LENGTH_MAX } from "../../src/http/status/status-words.ts";
import { PATH_LENGTH_MAX } from "../../src/http/target.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/operating.md"), "utf8");
const write = (count: number) => count.toLocaleString("en");

test("the table of what is too long has every ceiling of a request, with its number", () => {
  const [, table = ""] = page.split("| part of a request | at most | beyond that |\n|---|---|---|\n");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").map((row) => row.split(" | ")[1]);
  expect(rows).toEqual([
    `${write(PATH_LENGTH_MAX)} characters`,
    `${write(PARAMETERS_MAX)} parameters`,
    `${write(TYPES_MAX)} names`,
    `${write(TYPES_LENGTH_MAX)} characters`,
    `${write(AUTHORIZATION_LENGTH_MAX)} characters`,
    `${write(ACCEPT_ENCODING_LENGTH_MAX)} characters`,
    `${write(IF_NONE_MATCH_LENGTH_MAX)} characters`,
    `${write(ACCEPT_LANGUAGE_LENGTH_MAX)} characters`,
    `${write(COOKIE_LENGTH_MAX)} characters`,
    `${write(HOPS_MAX)} entries`,
    `${write(BODY_BYTES_MAX)} bytes`,
    `${write(SOCKET_FRAME_BYTES_MAX)} bytes`,
  ]);
});

test.each([
  ["waiting_events", write(WAITING_EVENTS_MAX)],
  ["unauthenticated_sockets", write(GUESTS_MAX)],
  ["held_webhook_bytes", `${HELD_BYTES_MAX / 1024 ** 2} MiB`],
  ["public_statuses", write(STATUSES_MAX)],
  ["status_addresses", write(ASKING_ADDRESSES_MAX)],
])("the metric for %s is told with its maximum, %s", (name, max) => {
  expect(page).toMatch(new RegExp(`of="${name}"}\` \\|[^\n]*\`gatehouse_size_max\` \\(${max}\\)`));
});
