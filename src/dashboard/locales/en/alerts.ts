// English text of the alerts for new calls. In the names of types a dot is written as an underscore.

export const alerts = {
  open: "Alerts for new calls",
  summary: "For new calls for a moderator and new emergency calls, while this page is open in a tab.",
  partly: "This key may not read all calls, so there are alerts only for: {{sections}}.",
  sound: "Quiet sound",
  soundHint: "You hear it once when you switch it on.",
  notification: "Browser notification",
  notificationHint: "The browser asks for your permission when you switch it on.",
  denied: "The browser does not let this page notify you. You can change that in its settings.",
  unsupported: "This browser cannot show notifications of a page, or only over https.",
  kept: "Set for this browser only.",
  notLive: "There is no live connection at the moment, so no alerts come.",
  on: "Alerts for new calls are on",
  type: {
    modcall_opened: "Call for a moderator",
    call_opened: "Emergency call",
  },
};
