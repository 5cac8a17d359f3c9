// The ceilings and the codes of notices that docs/operating.md names are those of the code.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TYPES_LENGTH_MAX, TYPES_MAX } from "../../src/core/events/event-types.ts";
import { AUTHORIZATION_LENGTH_MAX } from "../../src/core/keys/bearer.ts";
import { NOTICE_CODES } from "../../src/core/notice-codes.ts";
import { WAITING_EVENTS_MAX } from "../../src/gateway/events/event-recorder.ts";
import { ASKING_ADDRESSES_MAX, STATUSES_MAX } from "../../src/gateway/status/public-statuses.ts";
import { GUESTS_MAX } from "../../src/http/events/event-socket.ts";
import { HELD_BYTES_MAX } from "../../src/http/requests/held-bodies.ts";
import { BODY_BYTES_MAX } from "../../src/http/requests/parse-request.ts";
import { PARAMETERS_MAX } from "../../src/http/requests/query-fields.ts";
import { PATH_LENGTH_MAX } from "../../src/http/requests/target.ts";
import { ACCEPT_ENCODING_LENGTH_MAX, IF_NONE_MATCH_LENGTH_MAX } from "../../src/http/sending/conditional.ts";
import { SOCKET_FRAME_BYTES_MAX } from "../../src/http/socket/listen.ts";
import { ACCEPT_LANGUAGE_LENGTH_MAX } from "../../src/http/status/status-words.ts";
import { HOPS_MAX } from "../../src/http/steps/client-address.ts";
import { COOKIE_LENGTH_MAX } from "../../src/http/web/session-cookie.ts";

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

test("the table of notices has every code, with what it means", () => {
  const [, table = ""] = page.split("| code | what is the matter | values |\n|---|---|---|\n");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").map((row) => row.split(" | ").slice(0, 2));
  expect(rows).toEqual(Object.entries(NOTICE_CODES).map(([code, meaning]) => [`| \`${code}\``, meaning]));
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
