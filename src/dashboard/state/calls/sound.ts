// How the browser tells of something: two soft tones, made by the browser, and a notification.

/** Of each tone, in hertz. */
const TONES = [660, 880] as const;
const TONE_SECONDS = 0.16;
const VOLUME = 0.06;
/** A later sound would be about something that is over. */
const LATE_MS = 2_000;
const LOCK_NAME = "gatehouse alert sound";

let context: AudioContext | undefined;

/** Plays the sound. Does nothing where the browser has no sound, or does not allow it before the user has touched the page. */
export function playSound(): void {
  context ??= openContext();
  if (!context) return;
  void playTones(context, Date.now());
}

/** Plays the sound in one tab only, when several tabs hear of the same call. Others stay silent for `quietMs`. */
export function playSoundOnce(quietMs: number): void {
  // Browsers have locks only over https and on localhost.
  if (!("locks" in navigator)) {
    playSound();
    return;
  }
  void navigator.locks.request(LOCK_NAME, { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    playSound();
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, quietMs);
    await promise;
  });
}

async function playTones(audio: AudioContext, askedAt: number): Promise<void> {
  // A browser lets a page play sound only once the user has touched it, and waits here until then.
  await audio.resume().catch(() => {});
  if (Date.now() - askedAt > LATE_MS) return;
  const start = audio.currentTime;
  for (const [index, frequency] of TONES.entries()) playTone(audio, frequency, start + index * TONE_SECONDS);
}

function openContext(): AudioContext | undefined {
  return typeof AudioContext === "undefined" ? undefined : new AudioContext();
}

function playTone(audio: AudioContext, frequency: number, at: number): void {
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.type = "sine";
  tone.frequency.value = frequency;
  // Without the ramps each tone would begin and end with a click.
  volume.gain.setValueAtTime(0, at);
  volume.gain.linearRampToValueAtTime(VOLUME, at + 0.02);
  volume.gain.linearRampToValueAtTime(0, at + TONE_SECONDS);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + TONE_SECONDS);
}

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
