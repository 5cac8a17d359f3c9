// Adds the texts of the operator's views to the languages of the page.
import i18next from "i18next";
import { operatorEn } from "./locales/operator-en.ts";
import { operatorRu } from "./locales/operator-ru.ts";

for (const [name, texts] of Object.entries(operatorEn)) i18next.addResourceBundle("en", name, texts);
for (const [name, texts] of Object.entries(operatorRu)) i18next.addResourceBundle("ru", name, texts);
