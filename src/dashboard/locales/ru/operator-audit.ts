// Russian text of the view "operator-audit".
import type { operatorAudit as english } from "../en/operator-audit.ts";
import type { Translation } from "../translation.ts";

export const operatorAudit: Translation<typeof english> = {
  title: "Аудит",
  summary: "Кто что изменил, сначала новое.",
};
