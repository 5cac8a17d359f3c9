// Russian text of the view "operator-blocks".
import type { operatorBlocks as english } from "../en/operator-blocks.ts";
import type { Translation } from "../translation.ts";

export const operatorBlocks: Translation<typeof english> = {
  title: "Блокировки",
  summary: "Ключи, заблокированные за спам.",
};
