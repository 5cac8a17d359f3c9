// The scripts on commands. Those on the commands of one server share a beginning: command-queue.lua, and those that finish
// commands also command-history.lua.
import { IDEMPOTENCY_KEPT_MS } from "../../core/command.ts";
import { createScript } from "./script.ts";
import acceptText from "./scripts/command-accept.lua" with { type: "text" };
import cancelText from "./scripts/command-cancel.lua" with { type: "text" };
import checkText from "./scripts/command-check.lua" with { type: "text" };
import claimText from "./scripts/command-claim.lua" with { type: "text" };
import confirmText from "./scripts/command-confirm.lua" with { type: "text" };
import dropText from "./scripts/command-drop.lua" with { type: "text" };
import eraseText from "./scripts/command-erase.lua" with { type: "text" };
import expireText from "./scripts/command-expire.lua" with { type: "text" };
import failWaitingText from "./scripts/command-fail-waiting.lua" with { type: "text" };
import findText from "./scripts/command-find.lua" with { type: "text" };
import forgetText from "./scripts/command-forget.lua" with { type: "text" };
import giveBackText from "./scripts/command-give-back.lua" with { type: "text" };
import historyText from "./scripts/command-history.lua" with { type: "text" };
import holdText from "./scripts/command-hold.lua" with { type: "text" };
import indexText from "./scripts/command-index.lua" with { type: "text" };
import listText from "./scripts/command-list.lua" with { type: "text" };
import listSentText from "./scripts/command-list-sent.lua" with { type: "text" };
import markText from "./scripts/command-mark.lua" with { type: "text" };
import queueText from "./scripts/command-queue.lua" with { type: "text" };
import settleText from "./scripts/command-settle.lua" with { type: "text" };
import unmarkText from "./scripts/command-unmark.lua" with { type: "text" };
import withdrawText from "./scripts/command-withdraw.lua" with { type: "text" };

/** No script reads more commands than this, because Redis does nothing else meanwhile. */
export const SCAN_MAX = 500;

const ofOneServer = (text: string) => createScript(`${queueText}\n${text}`);
/** For scripts that finish commands, and so have to drop older ones. */
const withHistory = (text: string) =>
  ofOneServer(`local IDEMPOTENCY_KEPT_MS = ${IDEMPOTENCY_KEPT_MS}\n${historyText}\n${text}`);
export const ACCEPT = ofOneServer(acceptText);
export const CANCEL = withHistory(cancelText);
export const CLAIM = ofOneServer(claimText);
export const CONFIRM = ofOneServer(confirmText);
export const DROP = withHistory(dropText);
export const ERASE = ofOneServer(eraseText);
export const EXPIRE = withHistory(expireText);
export const FAIL_WAITING = withHistory(failWaitingText);
export const FIND = ofOneServer(findText);
export const FORGET = ofOneServer(forgetText);
export const GIVE_BACK = ofOneServer(giveBackText);
export const HOLD = ofOneServer(holdText);
export const INDEX = ofOneServer(indexText);
export const LIST = ofOneServer(listText);
export const LIST_SENT = ofOneServer(listSentText);
export const CHECK = ofOneServer(checkText);
export const SETTLE = withHistory(settleText);
export const WITHDRAW = ofOneServer(withdrawText);
export const MARK = createScript(markText);
export const UNMARK = createScript(unmarkText);
