// Gatehouse with a clock that moves by BENCH_STEP_MS with every request, so that one key can send as fast as many keys.
import { startApp } from "../src/app.ts";
import { parseConfig } from "../src/instance/config.ts";

const stepMs = Number(process.env.BENCH_STEP_MS);
let now = Date.now();
const app = await startApp(parseConfig(process.env), {
  clock() {
    now += stepMs;
    return Math.floor(now);
  },
});
process.on("SIGTERM", () => void app.stop().then(() => process.exit(0)));
console.log(`gatehouse listening on ${app.url}`);
