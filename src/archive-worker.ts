// The entry of the embedded archive's thread.
import "./database/archive/worker.ts";
