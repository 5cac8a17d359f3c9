// English text of the alerts for new calls. In the names of types a dot is written as an underscore.

export const alerts = {
  open: "Alerts for new calls",
  summary: "For new calls for a moderator and new emergency calls, while this page is open in a tab.",
  partly: "This key may not read all calls, so there are alerts only for: {{sections}}.",
  sound: "Quiet sound",
  soundHint: "Is played once when you switch it on.",
  notification: "Notification of the browser",
  notificationHint: "The browser asks for your permission when you switch it on.",
  denied:
    "The browser does not allow this page to notify you. You can change that in the settings of the browser.",
  unsupported: "This browser cannot show notifications of a page, or only over https.",
  kept: "Kept in this browser. Off for everybody else.",
  notLive: "There is no live connection at the moment, so alerts do not come.",
  on: "Alerts for new calls are on",
  type: {
    modcall_opened: "Call for a moderator",
    call_opened: "Emergency call",
  },
};
