// Invalid requests of operators: refused in the documented order, with the name of the field, and without any change.
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expectRefusal, type NewKeyBody, type RefusalBody, type ServerBody } from "./operator.ts";
import { openStage } from "./stage.ts";

const BODY_MAX = 8_192;
const TOO_LARGE = { code: 5102, message: "payload_too_large" };
const WRONG_TYPE = { code: 5103, message: "unsupported_media_type" };
const NO_JSON = { code: 5034, message: "invalid_json" };

let server: ServerBody;
let key: NewKeyBody;
let writes: readonly (readonly [method: string, path: string])[];

const { gatehouse, operator } = await openStage();

beforeAll(async () => {
  server = await operator.addServer({ name: "Taken" });
  await operator.addServer({ name: "Taken too" });
  key = await operator.addKey(server);
  writes = [
    ["POST", "/admin/servers"],
    ["PATCH", `/admin/servers/${server.server_id}`],
    ["POST", "/admin/keys"],
    ["PATCH", `/admin/keys/${key.key_id}`],
    ["POST", `/admin/keys/${key.key_id}/rotate`],
  ];
});

function refusalOf(...fields: string[]): object {
  const details = Object.fromEntries(fields.map((field) => [field, expect.any(String)]));
  return { code: 5104, message: "invalid_request", details };
}

/** In chunks, so that there is no Content-Length. */
function inChunks(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 1000) controller.enqueue(bytes.slice(at, at + 1000));
      controller.close();
    },
  });
}

function send(method: string, path: string, body: Bun.BodyInit | undefined, type?: string): Promise<Response> {
  return fetch(gatehouse.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${gatehouse.masterKey}`,
      ...(type !== undefined && { "Content-Type": type }),
    },
    ...(body !== undefined && { body }),
  });
}

/** Asserts that `act` changes no servers, keys, blocks or audit entries. */
async function changingNothing(act: () => Promise<void>): Promise<void> {
  const before = await operator.captureState();
  await act();
  expect(await operator.captureState()).toEqual(before);
}

/** A body of exactly this many bytes, valid except for an unknown field. */
function bodyOfSize(bytes: number): string {
  const frame = JSON.stringify({ padding: "" }).length;
  return JSON.stringify({ padding: "x".repeat(bytes - frame) });
}

describe("the order of the body checks, on every write", () => {
  test("a body of 8,193 bytes is 413/5102, whatever else is wrong, with and without Content-Length", async () => {
    await changingNothing(async () => {
      for (const [method, path] of writes) {
        const body = bodyOfSize(BODY_MAX + 1);
        expect(Buffer.byteLength(body)).toBe(8_193);
        await expectRefusal(await send(method, path, body, "application/json"), 413, TOO_LARGE);
        await expectRefusal(await send(method, path, body, "text/plain"), 413, TOO_LARGE);
        await expectRefusal(await send(method, path, inChunks(body), "application/json"), 413, TOO_LARGE);
        await expectRefusal(await send(method, path, "{".repeat(BODY_MAX + 1), "application/json"), 413, TOO_LARGE);
      }
    });
  });

  test("a body of exactly 8,192 bytes passes the size check, with and without Content-Length", async () => {
    await changingNothing(async () => {
      for (const [method, path] of writes) {
        const body = bodyOfSize(BODY_MAX);
        expect(Buffer.byteLength(body)).toBe(8_192);
        const required =
          path === "/admin/servers" ? ["name", "server_key"] : path === "/admin/keys" ? ["server_id", "label"] : [];
        const refusal = refusalOf(...required, "padding");
        await expectRefusal(await send(method, path, body, "application/json"), 400, refusal);
        await expectRefusal(await send(method, path, inChunks(body), "application/json"), 400, refusal);
      }
    });
  });

  test("a body that is not application/json, or has no type, is 415/5103 even when it is bad JSON", async () => {
    await changingNothing(async () => {
      for (const [method, path] of writes) {
        for (const type of [
          "text/plain",
          "application/x-www-form-urlencoded",
          "application/jsonp",
          "application/json-patch+json",
          "text/application/json",
          "application",
        ]) {
          await expectRefusal(await send(method, path, "{", type), 415, WRONG_TYPE);
        }
        // Bytes, since fetch would give text a type.
        await expectRefusal(await send(method, path, new TextEncoder().encode("{}")), 415, WRONG_TYPE);
      }
    });
  });

  test("application/json is taken in any case and with parameters", async () => {
    for (const type of [
      "application/json",
      "Application/JSON",
      "application/json; charset=utf-8",
      "application/json ;x=y",
    ]) {
      const response = await send("PATCH", `/admin/keys/${key.key_id}`, "{}", type);
      expect([type, response.status]).toEqual([type, 200]);
    }
  });

  test("an empty body, bad JSON or bad UTF-8 is 400/5034", async () => {
    const { buffer } = new Uint8Array([...Buffer.from('{"name":"'), 0xc3, 0x28, ...Buffer.from('"}')]);
    await changingNothing(async () => {
      for (const [method, path] of writes) {
        for (const body of [
          "",
          " ",
          "{",
          "{'name':1}",
          '{"name":"x"} x',
          "undefined",
          "NaN",
          "\u0000",
          '{"a":"\n"}',
          buffer,
        ]) {
          await expectRefusal(await send(method, path, body, "application/json"), 400, NO_JSON);
        }
        if (!path.endsWith("/rotate")) await expectRefusal(await send(method, path, undefined), 400, NO_JSON);
      }
    });
  });

  test("JSON that is no object is 400/5104", async () => {
    await changingNothing(async () => {
      for (const [method, path] of writes) {
        for (const body of ["null", "[]", "1", '"text"', "true", "[{}]", "[".repeat(4000) + "]".repeat(4000)]) {
          await expectRefusal(await send(method, path, body, "application/json"), 400, refusalOf("body"));
        }
      }
    });
  });

  test("the master key comes before everything about the body", async () => {
    for (const [method, path] of writes) {
      for (const body of [bodyOfSize(BODY_MAX + 1), "{", "null"]) {
        const response = await fetch(gatehouse.url + path, { method, body });
        await expectRefusal(response, 401, { code: 5007, message: "missing_token" });
      }
    }
  });
});

const BAD_TEXTS: readonly unknown[] = [
  "",
  " ",
  "\t",
  "x".repeat(101),
  "e\u0301".repeat(51),
  "two\nlines",
  "carriage\rreturn",
  "nul\u0000",
  "escape\u001b[31m",
  "delete\u007f",
  "c1\u0085",
  "line\u2028separator",
  "paragraph\u2029separator",
  "half \ud83d",
  "half \ude93 too",
  null,
  1,
  true,
  [],
  {},
  ["x"],
];
const BAD_SERVER_KEYS: readonly unknown[] = [
  "",
  "abc",
  "abc-",
  "-abc",
  "a-b-c",
  "a_b-c",
  "a-b ",
  " a-b",
  "a-b\n",
  "ä-b",
  `${"a".repeat(600)}-b`,
  null,
  1,
  {},
  ["a-b"],
];
const BAD_COMMUNITIES: readonly unknown[] = [
  "",
  "a b",
  "a/b",
  "ä",
  "x".repeat(65),
  "a\n",
  "..",
  "a.b",
  1,
  false,
  {},
  ["a"],
];
const BAD_VERSIONS: readonly unknown[] = [
  null,
  "v2",
  ["v3"],
  ["V2"],
  ["v2", "v2"],
  [2],
  {},
  [null],
  [["v2"]],
  ["v2", ""],
];
const BAD_SECTIONS: readonly unknown[] = [
  null,
  "Players",
  ["players"],
  ["Players", "Players"],
  ["Everything"],
  ["__proto__"],
  [1],
  { Players: true },
];
const BAD_COMMANDS: readonly unknown[] = [
  null,
  "*",
  [""],
  [":h hello"],
  [":h\n"],
  [1],
  [":h", ":h"],
  [":h", ":H"],
  ["x".repeat(51)],
  Array.from({ length: 101 }, (_, i) => `:c${i}`),
  {},
];
const BAD_ADDRESSES: readonly unknown[] = [
  null,
  "10.0.0.1",
  ["10.0.0.256"],
  ["10.0.0.0/33"],
  ["::/129"],
  ["10.0.0"],
  ["example.org"],
  [""],
  ["fe80::1%eth0"],
  ["10.0.0.1/"],
  ["10.0.0.1/-1"],
  ["10.0.0.1-10.0.0.9"],
  ["127.0.0.1", "nonsense"],
  [1],
  ["1".repeat(65)],
  Array.from({ length: 101 }, (_, i) => `10.0.0.${i}`),
  {},
];
/** Relative to the clock of the test. */
function badExpiries(now: number): readonly unknown[] {
  return [now, now - 1, 0, -1, now + 0.5, String(now + 1000), 8.64e15 + 1, 1e300, true, [], {}];
}
const BAD_FLAGS: readonly unknown[] = [null, "true", 1, 0, [], {}];
const BAD_SERVER_IDS: readonly unknown[] = ["", "key_x", "srv_", "srv_never", "srv_../x", null, 1, {}, ["srv_x"]];
const BAD_GRACES: readonly unknown[] = [null, -1, 1.5, "30", 2_592_001, 1e300, true, [], {}];

describe("a bad value is 400/5104, names its field alone, and changes nothing", () => {
  test("of a new server", async () => {
    const good = { name: "New", server_key: "a-b", community: "town" };
    await expectAllRefused("POST", "/admin/servers", good, {
      name: [...BAD_TEXTS, "Taken"],
      server_key: BAD_SERVER_KEYS,
      community: BAD_COMMUNITIES,
    });
  });

  test("of a change to a server", async () => {
    const good = { name: "Renamed", server_key: "c-d", community: "town" };
    await expectAllRefused("PATCH", `/admin/servers/${server.server_id}`, good, {
      name: [...BAD_TEXTS, "Taken too"],
      server_key: BAD_SERVER_KEYS,
      community: BAD_COMMUNITIES,
    });
  });

  test("of a new key", async () => {
    const good = { server_id: server.server_id, label: "new" };
    await expectAllRefused("POST", "/admin/keys", good, {
      server_id: BAD_SERVER_IDS,
      label: BAD_TEXTS,
      versions: BAD_VERSIONS,
      sections: BAD_SECTIONS,
      commands: BAD_COMMANDS,
      ip_allow: BAD_ADDRESSES,
      expires_at: badExpiries(gatehouse.clock.now),
    });
  });

  test("of a change to a key", async () => {
    await expectAllRefused(
      "PATCH",
      `/admin/keys/${key.key_id}`,
      { label: "changed" },
      {
        label: BAD_TEXTS,
        versions: BAD_VERSIONS,
        sections: BAD_SECTIONS,
        commands: BAD_COMMANDS,
        ip_allow: BAD_ADDRESSES,
        expires_at: badExpiries(gatehouse.clock.now),
        suspended: BAD_FLAGS,
      },
    );
  });

  test("of a rotation, after which the token still works", async () => {
    await expectAllRefused("POST", `/admin/keys/${key.key_id}/rotate`, {}, { grace_seconds: BAD_GRACES });
    expect((await gatehouse.get("/v2/game/server", key.token)).status).toBe(200);
  });

  async function expectAllRefused(
    method: string,
    path: string,
    good: object,
    table: Readonly<Record<string, readonly unknown[]>>,
  ): Promise<void> {
    await changingNothing(async () => {
      for (const [field, values] of Object.entries(table)) {
        for (const value of values) {
          const response = await gatehouse.admin(method, path, { ...good, [field]: value });
          const body = (await response.json()) as RefusalBody;
          const reasons = { [field]: expect.objectContaining({ code: expect.any(String) }) };
          const refusal = { ...(refusalOf(field) as RefusalBody), reasons };
          expect({ field, value, status: response.status, body }).toEqual({ field, value, status: 400, body: refusal });
        }
      }
    });
  }
});

describe("fields", () => {
  test("every field that is wrong, missing or unknown is named at once", async () => {
    await changingNothing(async () => {
      const cases: [method: string, path: string, body: unknown, fields: string[]][] = [
        ["POST", "/admin/servers", {}, ["name", "server_key"]],
        [
          "POST",
          "/admin/servers",
          { name: "", community: "a b", extra: 1 },
          ["name", "server_key", "community", "extra"],
        ],
        ["POST", "/admin/keys", {}, ["server_id", "label"]],
        ["POST", "/admin/keys", { label: 1, versions: 1, sections: 1 }, ["server_id", "label", "versions", "sections"]],
        ["PATCH", `/admin/keys/${key.key_id}`, { suspended: 1, label: null }, ["suspended", "label"]],
      ];
      for (const [method, path, body, fields] of cases) {
        await expectRefusal(await gatehouse.admin(method, path, body), 400, refusalOf(...fields));
      }
    });
  });

  test("a field that cannot be set there is unknown there", async () => {
    const cases: [method: string, path: string, good: object, field: string][] = [
      ["POST", "/admin/servers", { name: "New", server_key: "a-b" }, "server_id"],
      ["PATCH", `/admin/servers/${server.server_id}`, { name: "New" }, "created_at"],
      ["POST", "/admin/keys", { server_id: server.server_id, label: "x" }, "suspended"],
      ["POST", "/admin/keys", { server_id: server.server_id, label: "x" }, "token"],
      ["PATCH", `/admin/keys/${key.key_id}`, { label: "x" }, "server_id"],
      ["PATCH", `/admin/keys/${key.key_id}`, { label: "x" }, "revoked_at"],
      ["POST", `/admin/keys/${key.key_id}/rotate`, {}, "token"],
      ["PATCH", `/admin/keys/${key.key_id}`, { label: "x" }, "constructor"],
      ["PATCH", `/admin/keys/${key.key_id}`, { label: "x" }, "Label"],
    ];
    await changingNothing(async () => {
      for (const [method, path, good, field] of cases) {
        const response = await gatehouse.admin(method, path, { ...good, [field]: null });
        await expectRefusal(response, 400, refusalOf(field));
      }
    });
  });

  test("__proto__ is an unknown field like any other, and changes no prototype", async () => {
    await changingNothing(async () => {
      for (const [method, path] of writes) {
        const response = await gatehouse.admin(method, path, '{"__proto__":{"polluted":true}}');
        expect(response.status).toBe(400);
        expect(await response.text()).toContain('"__proto__":"');
      }
    });
    expect("polluted" in {}).toBe(false);
  });

  test("a great many unknown fields, and deep ones, get an answer of bounded size", async () => {
    const many = Object.fromEntries(Array.from({ length: 800 }, (_, i) => [`f${i}`, 0]));
    const deep = `{"versions":${"[".repeat(4000)}${"]".repeat(4000)}}`;
    const alike = `{"ip_allow":[${"[],".repeat(2500)}[]]}`;
    for (const body of [many, deep, alike]) {
      const response = await gatehouse.admin("PATCH", `/admin/keys/${key.key_id}`, body);
      expect(response.status).toBe(400);
      expect((await response.text()).length).toBeLessThan(200_000);
    }
  });
});

test("whatever JSON is sent, a write is done or refused with 400, its details an object of strings, never a fault", async () => {
  const scratch = await operator.addServer();
  const scratchKey = await operator.addKey(scratch);
  const paths = [
    ["POST", "/admin/servers"],
    ["PATCH", `/admin/servers/${scratch.server_id}`],
    ["POST", "/admin/keys"],
    ["PATCH", `/admin/keys/${scratchKey.key_id}`],
    ["POST", `/admin/keys/${scratchKey.key_id}/rotate`],
  ] as const;
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("a-b", "v2", "Players", ":h", "*", "::1"),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    text,
    fc.array(text, { maxLength: 5 }),
    fc.integer({ min: 0, max: 8.64e15 }),
    fc.constantFrom(scratch.server_id, null, true, false),
  );
  const field = fc.constantFrom(
    ...["name", "server_key", "community", "server_id", "label", "versions", "sections", "commands"],
    ...["ip_allow", "expires_at", "suspended", "grace_seconds", "__proto__", "toString"],
  );
  const body = fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(field, value, { maxKeys: 6 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async ([method, path], sent) => {
      const response = await gatehouse.admin(method, path, JSON.stringify(sent));
      const answer = (await response.json()) as RefusalBody;
      if (response.status === 200 || response.status === 201) return;
      expect(response.status).toBe(400);
      expect([5104, 5034]).toContain(answer.code);
      if (answer.code === 5034) return;
      const details = Object.values(answer.details ?? {});
      expect(details.length).toBeGreaterThan(0);
      expect(details.every((reason) => typeof reason === "string")).toBe(true);
    }),
    { numRuns: 500 },
  );
  expect(gatehouse.logLines.filter((line) => line.includes("unexpected failure"))).toEqual([]);
});
