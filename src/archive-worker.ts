// The entry of the embedded archive's thread. It stands beside main.ts, because a compiled program finds it only there.
import "./archive/sqlite/worker.ts";
