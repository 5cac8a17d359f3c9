// Russian text of the view "operator-health".
import type { operatorHealth as english } from "../en/operator-health.ts";
import type { Translation } from "../translation.ts";

export const operatorHealth: Translation<typeof english> = {
  title: "Состояние",
  summary: "Как работает ретранслятор.",
};
