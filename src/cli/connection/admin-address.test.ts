import { describe, expect, test } from "bun:test";
import { findAdminAddress } from "./admin-address.ts";

describe("the address of the admin API", () => {
  test.each([
    ["nothing said", {}, {}, "http://127.0.0.1:8080"],
    ["a port", {}, { GATEHOUSE_PORT: "9000" }, "http://127.0.0.1:9000"],
    ["all IPv4 addresses", {}, { GATEHOUSE_HOST: "0.0.0.0" }, "http://127.0.0.1:8080"],
    ["all addresses", {}, { GATEHOUSE_HOST: "::" }, "http://[::1]:8080"],
    ["an IPv6 address", {}, { GATEHOUSE_HOST: "fd00::5" }, "http://[fd00::5]:8080"],
    ["GATEHOUSE_URL", {}, { GATEHOUSE_URL: "https://gate.example/", GATEHOUSE_PORT: "1" }, "https://gate.example"],
    ["--url", { url: "https://a.example/gate/" }, { GATEHOUSE_URL: "https://b.example" }, "https://a.example/gate"],
    ["a port for operators", {}, { GATEHOUSE_HOST: "10.0.0.5", GATEHOUSE_ADMIN_PORT: "9001" }, "http://127.0.0.1:9001"],
    [
      "a port for operators on all addresses",
      {},
      { GATEHOUSE_ADMIN_HOST: "0.0.0.0", GATEHOUSE_ADMIN_PORT: "9001", GATEHOUSE_PORT: "0" },
      "http://127.0.0.1:9001",
    ],
    [
      "an address for operators",
      {},
      { GATEHOUSE_ADMIN_HOST: "fd00::7", GATEHOUSE_ADMIN_PORT: "9001" },
      "http://[fd00::7]:9001",
    ],
    ["empty settings", {}, { GATEHOUSE_URL: " ", GATEHOUSE_HOST: "" }, "http://127.0.0.1:8080"],
  ])("%s", (_, options, environment, base) => {
    expect(findAdminAddress(options, environment).base).toBe(base);
  });

  test.each([
    ["nothing said", {}, "http://127.0.0.1:8123"],
    ["a port that was chosen at the start", { GATEHOUSE_PORT: "0" }, "http://127.0.0.1:8123"],
    ["a port in the settings, which counts more", { GATEHOUSE_PORT: "9000" }, "http://127.0.0.1:9000"],
    ["another address", { GATEHOUSE_URL: "https://gate.example" }, "https://gate.example"],
  ])("with an instance on the data folder: %s", (_, environment, base) => {
    expect(findAdminAddress({}, environment, () => ({ address: "0.0.0.0", port: 8123 })).base).toBe(base);
  });

  test.each([
    ["another protocol", { url: "ftp://gate.example" }, {}],
    ["no address at all", { url: "gate" }, {}],
    ["a password in it", { url: "https://me:secret@gate.example" }, {}],
    ["a query in it", { url: "https://gate.example/?a=1" }, {}],
    ["a port that is chosen at the start", {}, { GATEHOUSE_PORT: "0" }],
    ["a port for operators that is chosen at the start", {}, { GATEHOUSE_ADMIN_PORT: "0" }],
    ["a port that is none", {}, { GATEHOUSE_PORT: "http" }],
    ["a missing certificate file", { caFile: "/nonexistent/ca.pem" }, {}],
    ["a file without a certificate", { caFile: import.meta.path }, {}],
  ])("%s is refused with exit code 2", (_, options, environment) => {
    expect(() => findAdminAddress(options, environment)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  test("the name in the certificate is checked unless the address is this machine's own", () => {
    expect(findAdminAddress({}, {}).checksName).toBe(false);
    expect(findAdminAddress({}, { GATEHOUSE_HOST: "10.0.0.5" }).checksName).toBe(true);
    expect(findAdminAddress({ url: "https://127.0.0.1:8080" }, {}).checksName).toBe(true);
    expect(findAdminAddress({}, { GATEHOUSE_URL: "https://localhost" }).checksName).toBe(true);
  });
});
