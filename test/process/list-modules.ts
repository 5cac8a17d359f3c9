// Loaded before the program that a test watches: at its end, writes which modules it has loaded to the file that is named.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  const { TEST_MODULES_FILE } = process.env;
  if (TEST_MODULES_FILE) writeFileSync(TEST_MODULES_FILE, Object.keys(require.cache).join("\n"));
});
