// Russian text about webhooks that is needed before their view is opened.
import type { operatorWebhooks as english } from "../en/operator-webhooks.ts";
import type { Translation } from "../translation.ts";

export const operatorWebhooks: Translation<typeof english> = {
  title: "Вебхуки",
  disabled_one: "{{count}} вебхук отключён из-за получателя",
  disabled_few: "{{count}} вебхука отключены из-за получателей",
  disabled_many: "{{count}} вебхуков отключены из-за получателей",
  disabled_other: "{{count}} вебхука отключены из-за получателей",
  disabledText: "Пока вы не включите их снова, туда ничего не отправляется.",
  look: "Открыть вебхуки",
};
