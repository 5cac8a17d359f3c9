// Adds the texts of alerts to the languages of the page. They are loaded with what shows alerts.
import i18next from "i18next";
import { alertEvents as en } from "../../locales/en/alert-events.ts";
import { alertEvents as ru } from "../../locales/ru/alert-events.ts";

i18next.addResourceBundle("en", "alertEvents", en);
i18next.addResourceBundle("ru", "alertEvents", ru);
