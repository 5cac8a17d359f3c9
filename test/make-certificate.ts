// Self-signed certificates for tests: created with openssl if it is installed, otherwise encoded here.
import { createPrivateKey, generateKeyPairSync, sign, X509Certificate } from "node:crypto";

export type TestCertificate = {
  readonly cert: string;
  readonly key: string;
  /** The SHA-256 fingerprint, in the form that TLS clients show. */
  readonly fingerprint: string;
};

export async function makeCertificate(): Promise<TestCertificate> {
  const { cert, key } = Bun.which("openssl") ? await makeWithOpenssl() : makeByHand();
  return { cert, key, fingerprint: new X509Certificate(cert).fingerprint256 };
}

async function makeWithOpenssl(): Promise<{ cert: string; key: string }> {
  const both =
    await Bun.$`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=gatehouse.test -addext subjectAltName=IP:127.0.0.1 -keyout - -out -`
      .quiet()
      .text();
  const begin = both.indexOf("-----BEGIN CERTIFICATE");
  const end = both.indexOf("-----END CERTIFICATE-----") + "-----END CERTIFICATE-----".length;
  const key = createPrivateKey(both).export({ type: "pkcs8", format: "pem" });
  return { cert: `${both.slice(begin, end)}\n`, key: key.toString() };
}

/** A minimal certificate of RFC 5280. */
export function makeByHand(host = "gatehouse.test"): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
  const commonName = der(0x30, der(0x06, Buffer.from("550403", "hex")), der(0x0c, Buffer.from(host)));
  const name = der(0x30, der(0x31, commonName));
  const day = (offset: number) => {
    const text = new Date(Date.now() + offset * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, "");
    return der(0x18, Buffer.from(text));
  };
  const serial = Buffer.concat([Buffer.of(1), Buffer.from(crypto.randomUUID().slice(0, 8), "hex")]);
  const content = der(
    0x30,
    der(0x02, serial),
    ecdsaWithSha256,
    name,
    der(0x30, day(-1), day(2)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = Buffer.concat([Buffer.of(0), sign("sha256", content, privateKey)]);
  const whole = der(0x30, content, ecdsaWithSha256, der(0x03, signature)).toString("base64");
  const lines = whole.match(/.{1,64}/g)?.join("\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}
