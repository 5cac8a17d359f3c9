// English text about webhooks that is needed before their view is opened: its title, and the notice of the overview.

export const operatorWebhooks = {
  title: "Webhooks",
  disabled_one: "{{count}} webhook was disabled because of its receiver",
  disabled_other: "{{count}} webhooks were disabled because of their receivers",
  disabledText: "Nothing is sent until you enable it again.",
  look: "Look at the webhooks",
};
