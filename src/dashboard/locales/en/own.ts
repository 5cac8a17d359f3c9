// English text of the page of an invitation and of one's own page.

export const own = {
  invited: "You are invited to Gatehouse",
  invitedText:
    "Somebody has sent you this link so that you can sign in with a name of your own. It works once. Go on only if you expected it.",
  accept: "Accept the invitation",
  invitationGone:
    "This invitation no longer works: each works once, for 24 hours, and a newer one replaces it. Ask whoever sent it for a new one.",
  toSignIn: "To the sign-in page",
  passkeyOffer: "Add a passkey?",
  passkeyText:
    "You are signed in. With a passkey you sign in with your fingerprint, your face or the screen lock of your device, on any browser that has it, with no password.",
  addPasskey: "Add a passkey",
  onlyHere: "Only this device, for 30 days",
  roles: "Your servers",
  noRoles: "You have no role on any server yet. Ask whoever invited you.",
  isOperator: "You are an operator: everything, on every server.",
  passkeys: "Passkeys",
  noPasskeys: "None yet. Without one, this device stays signed in for 30 days after its last use.",
  usedAt: "last used {{time}}",
  neverUsed: "never used",
  since: "since {{time}}",
  until: "until {{time}}",
  remove: "Remove",
  removeName: "Remove the passkey {{name}}",
  removePasskey: "Remove this passkey?",
  removePasskeyText: "{{name}} can no longer sign in. Your sessions stay.",
  sessions: "Signed-in browsers",
  thisOne: "this one",
  unknown: "Unknown browser",
  end: "Sign out",
  endName: "Sign out {{name}}",
  signOutText: "Ends the session of this browser.",
};
