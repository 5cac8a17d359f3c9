// The entry of the embedded archive's thread.
import "./archive/sqlite/worker.ts";
