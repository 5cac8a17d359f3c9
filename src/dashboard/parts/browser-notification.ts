// Notifications of the browser, as far as this browser has them for pages.

export type NotificationAnswer = "granted" | "denied" | "unsupported";

export type NotificationText = {
  readonly title: string;
  readonly body: string;
  /** A new notification replaces an older one with the same tag, also one of another tab. */
  readonly tag: string;
  /** The part of the URL after #, where a click leads. */
  readonly route?: string;
};

/** Asks the user, if the browser has not asked before. */
export async function requestNotifications(): Promise<NotificationAnswer> {
  if (typeof Notification === "undefined" || !isSecureContext) return "unsupported";
  const permission = await Notification.requestPermission();
  return permission === "granted" ? "granted" : "denied";
}

/** Returns false where the browser does not let a page do this, as on Android. */
export function showNotification({ title, body, tag, route }: NotificationText): boolean {
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return false;
  try {
    // Silent, because the sound is a choice of its own.
    const shown = new Notification(title, { body, tag, silent: true });
    shown.onclick = () => {
      window.focus();
      if (route !== undefined) location.hash = route;
      shown.close();
    };
    return true;
  } catch {
    // Android allows notifications to service workers only.
    return false;
  }
}
