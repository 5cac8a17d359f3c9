// Which urls a webhook may have and which addresses it may connect to, with private addresses in every disguise.
import { describe, expect, test } from "bun:test";
import { PRIVATE_HOSTS } from "../../../test/private-hosts.ts";
import { findAddressLiteral, isPublicAddress, parseWebhookUrl, showUrl } from "./address.ts";

const PUBLIC_HOSTS: readonly string[] = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "126.255.255.255",
  "128.0.0.1",
  "134744072",
  "162.159.138.232",
  "172.15.255.255",
  "172.32.0.1",
  "192.167.255.255",
  "192.169.0.1",
  "198.17.255.255",
  "198.20.0.1",
  "223.255.255.255",
  "[2606:4700:4700::1111]",
  "[2a00:1450:4001:81b::200e]",
  "[2003::1]",
];

/** Texts that no URL parser may take for an address at all. */
const NO_URLS: readonly string[] = [
  "https://[fe80::1%eth0]/",
  "https://[fe80::1%25eth0]/",
  "https://[::1/",
  "https://::1/",
  "https://[::ffff:127.0.0.1",
  "https://256.256.256.256/",
  "https://1.2.3.4.5/",
  "https://127.0.0.1../",
  "https://.127.0.0.1/",
  "https://08.8.8.8/",
  "https://./",
  "https://",
  "https://127.0.0.1 /",
  " https://hooks.example/",
  "https://hooks.example/\n",
  "https://hooks.exa\tmple/",
  "hooks.example",
  "//hooks.example/a",
  "",
  "ftp://hooks.example/",
  "file:///etc/passwd",
  "data:text/plain,a",
  "javascript:alert(1)",
  "wss://hooks.example/",
  "http://hooks.example/",
  "http://1.1.1.1/",
  "https://user@hooks.example/",
  "https://user:password@hooks.example/",
  "https://:password@hooks.example/",
  "https://1.1.1.1@127.0.0.1/",
  "https:127.0.0.1",
  "https:\\\\127.0.0.1\\hook",
  `https://hooks.example/${"a".repeat(2_048)}`,
];

describe("the url of a webhook", () => {
  test("a private address is refused in each of more than 60 disguises", () => {
    expect(PRIVATE_HOSTS.length).toBeGreaterThan(60);
    for (const host of PRIVATE_HOSTS) {
      for (const url of [`https://${host}/hook`, `https://${host}:8443/hook?a=b`])
        expect([host, parseWebhookUrl(url, false)]).toEqual([
          host,
          { problem: { code: "url_private", text: "must not be a private address" } },
        ]);
    }
  });

  test("public addresses are accepted in every notation", () => {
    for (const host of PUBLIC_HOSTS)
      expect([host, "url" in parseWebhookUrl(`https://${host}/hook`, false)]).toEqual([host, true]);
  });

  test("what is no https address, or has a user, is refused, and the problem does not quote it", () => {
    for (const text of NO_URLS) {
      const parsed = parseWebhookUrl(text, false);
      expect([text, "problem" in parsed]).toEqual([text, true]);
      if ("problem" in parsed) expect(parsed.problem.text).not.toContain("hooks.example");
    }
  });

  test("names are accepted, because only an attempt can tell where they lead", () => {
    for (const host of ["discord.com", "localhost", "localhost.", "hooks.example.", "пример.рф", "a.b.c"])
      expect([host, "url" in parseWebhookUrl(`https://${host}/hook`, false)]).toEqual([host, true]);
  });

  test("where private addresses are allowed, so is http, but no user and no other scheme", () => {
    for (const url of ["http://127.0.0.1:9000/hook", "http://[::1]/", "https://10.0.0.1/", "http://hooks.example/"])
      expect([url, "url" in parseWebhookUrl(url, true)]).toEqual([url, true]);
    for (const url of ["http://user@127.0.0.1/", "ftp://127.0.0.1/", "file:///a", "127.0.0.1"])
      expect([url, "url" in parseWebhookUrl(url, true)]).toEqual([url, false]);
  });

  test("an address in it is found without brackets and in the usual notation", () => {
    expect(findAddressLiteral(new URL("https://0x7f.1/"))).toBe("127.0.0.1");
    expect(findAddressLiteral(new URL("https://[2606:4700::0:1111]/"))).toBe("2606:4700::1111");
    expect(findAddressLiteral(new URL("https://hooks.example/"))).toBeUndefined();
  });

  test("only its host and first path segment are shown", () => {
    const shown = (url: string) => showUrl(new URL(url));
    expect(shown("https://discord.com/api/webhooks/123/TOKEN?thread_id=5#x")).toBe("https://discord.com/api");
    expect(shown("https://hooks.example:8443/in?token=TOKEN")).toBe("https://hooks.example:8443/in");
    expect(shown("https://hooks.example/?token=TOKEN")).toBe("https://hooks.example");
    expect(shown("https://hooks.example//TOKEN")).toBe("https://hooks.example");
    expect(shown("https://hooks.example#TOKEN")).toBe("https://hooks.example");
  });
});

describe("an address that a name resolves to", () => {
  test.each([
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "fe80::1%eth0",
    "2606:4700::1111%eth0",
    "fd00::1",
    "64:ff9b::808:808",
    "2002:808:808::1",
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(["1.1.1.1", "2606:4700::1111", "2A00:1450:4001:81B::200E"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each(["", "localhost", "0x7f.1", "8.8.8.8.", "010.0.0.1", "[2606:4700::1111]", "8.8.8.8:443", "8.8.8"])(
    "%p is no address, and so not public",
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});
