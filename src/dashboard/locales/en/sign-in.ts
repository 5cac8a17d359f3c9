// English text of the sign-in form.

export const signIn = {
  title: "Sign in to Gatehouse",
  lead: "With an API key you see one game server. With the master key you run Gatehouse.",
  field: "API key or master key",
  placeholder: "gth_…",
  keep: "Keep me signed in until this tab is closed",
  keepHint:
    "Otherwise the key is gone when the page is reloaded. It is never put into an address or kept longer.",
  remember: "Remember this device",
  rememberHint:
    "For 30 days this browser signs in by itself, without the key. Not on a device that others use. The master key is never remembered.",
  linkLead: "This one-time link signs you in to a game server. It can be used once.",
  linkGone: "This link no longer works: each works once and for ten minutes. Ask the operator for a new one.",
  withKey: "Sign in with a key",
  submit: "Sign in",
  ended: "You have been signed out",
  failed: "Signing in did not work",
  empty: "Enter a key first.",
  missing: "No key reached Gatehouse: something on the way took it out. (5007)",
  invalidKey: "Gatehouse does not know this API key: it was mistyped, or it is revoked or expired. (5008)",
  wrongMaster: "This is neither an API key (they begin with gth_) nor the right master key. (5006)",
  tooManyTries:
    "There were too many tries from this address or with this key. Wait {{seconds}} s, then try again. (5107)",
  limited: "This key has used up its requests for now. Wait {{seconds}} s, then try again. (5016)",
  blocked:
    "This key is blocked for sending too many requests. The block ends in {{seconds}} s; an operator can lift it. (5100)",
  suspended:
    "This key may not be used: it is suspended, or not allowed from your address. Ask the operator. (5009)",
  version: "This key may not use version 2 of the API. Ask the operator. (5010)",
  notHere:
    "Operators are not served at this address: Gatehouse has another one for them (GATEHOUSE_ADMIN_PORT). API keys work here. (5020)",
  otherAddress:
    "Gatehouse does not recognise the address of this page. The proxy in front of it has to pass the Host header on unchanged. (5009)",
  deviceEnded:
    "This browser is no longer signed in: its 30 days are over, or it was signed out. Enter the key again. ({{code}})",
  unreachable: "Gatehouse cannot be reached. Check the connection, then try again.",
  unexpected: "Gatehouse answered with an error of its own ({{code}}). Try again in a moment.",
};
