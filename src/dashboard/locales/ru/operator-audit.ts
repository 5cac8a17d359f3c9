// The Russian title of the view "audit". Its other texts are loaded with it.
import type { operatorAudit as english } from "../en/operator-audit.ts";
import type { Translation } from "../translation.ts";

export const operatorAudit: Translation<typeof english> = { title: "Изменения" };
