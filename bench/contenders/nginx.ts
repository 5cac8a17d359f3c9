// Starts nginx with the Lua module from Debian's packages, installed or unpacked into the folder BENCH_NGINX_ROOT.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "../processes.ts";
import type { Contender } from "./contender.ts";

const ROOT = process.env.BENCH_NGINX_ROOT ?? "";
/** The Lua module needs the first one. */
const MODULES = ["ndk_http_module.so", "ngx_http_lua_module.so"].map((file) => `${ROOT}/usr/lib/nginx/modules/${file}`);
const LOAD_MODULES = MODULES.map((path) => `load_module ${path};`).join("\n");
const LIBRARIES = [...new Bun.Glob("usr/lib/*-linux-gnu").scanSync({ cwd: ROOT || "/", onlyFiles: false })];
const ENV: Record<string, string> = ROOT
  ? { LD_LIBRARY_PATH: LIBRARIES.map((path) => join(ROOT, path)).join(":") }
  : {};

export const nginx: Contender = {
  id: "nginx",
  name: "nginx + Lua",
  findObstacle() {
    if (!Bun.which("nginx")) return "nginx is not installed";
    if (!MODULES.every((path) => existsSync(path)))
      return "nginx has no Lua module (Debian: libnginx-mod-http-lua and libluajit2-5.1-2)";
    return findLoadingFault();
  },
  async start(stage, cores) {
    const folder = stage.makeFolder("nginx");
    const port = await findFreePort();
    const filled: Record<string, string> = {
      modules: LOAD_MODULES,
      contenders: import.meta.dir,
      lua: `${ROOT}/usr/share/lua/5.1/?.lua`,
      stage: stage.folder,
      port: String(port),
    };
    const template = readFileSync(join(import.meta.dir, "nginx.conf"), "utf8");
    const path = join(folder, "nginx.conf");
    writeFileSync(
      path,
      template.replace(/@(\w+)@/g, (whole, name) => filled[name] ?? whole),
    );
    const url = `http://127.0.0.1:${port}`;
    const command = ["nginx", "-p", folder, "-c", path];
    const program = await startProgram({ command, core: cores.server, env: ENV, silentUrl: url });
    return { ...program, urlOf: (benchCase) => url + benchCase.path };
  },
};

/** An installed module may fail to load, for example with another LuaJIT than it was built for. */
function findLoadingFault(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-nginx-"));
  const path = join(folder, "nginx.conf");
  writeFileSync(path, `${LOAD_MODULES}\npid ${folder}/pid;\nevents {}\n`);
  const { exitCode, stderr } = Bun.spawnSync(["nginx", "-t", "-p", folder, "-c", path], {
    env: { ...process.env, ...ENV },
    stderr: "pipe",
  });
  rmSync(folder, { recursive: true, force: true });
  const reason = /\[emerg\] \S+ (.*?)(?: in \S+)?$/m.exec(stderr.toString())?.[1];
  return exitCode === 0 ? undefined : `nginx cannot load its Lua module: ${reason ?? "no reason given"}`;
}

function findFreePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}
