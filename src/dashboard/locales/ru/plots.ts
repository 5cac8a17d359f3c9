// Russian text of the view "plots".
import type { plots as english } from "../en/plots.ts";
import type { Translation } from "../translation.ts";

export const plots: Translation<typeof english> = {
  title: "Графики",
};
