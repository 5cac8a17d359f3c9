// Loaded before the tested program: when that ends, writes the list of its loaded modules to a file.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  const { TEST_MODULES_FILE } = process.env;
  if (TEST_MODULES_FILE) writeFileSync(TEST_MODULES_FILE, Object.keys(require.cache).join("\n"));
});
