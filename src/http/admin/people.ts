// /admin/people and /admin/roles: who may sign in, and what they may do.
import Type from "typebox";
import { DAY_MS, HOUR_MS } from "../../core/durations.ts";
import { isRefusal } from "../../core/errors.ts";
import { describeRights } from "../../core/keys/rights.ts";
import { callerIdOf, PERSON_NAME_MAX } from "../../core/people/person.ts";
import { FIRST_ROLES } from "../../core/people/role.ts";
import * as wire from "../../core/wire/people.ts";
import * as manage from "../../gateway/people/manage-people.ts";
import { shows, takes } from "../operation.ts";
import { OF_SERVER } from "../requests/parameters.ts";
import { textLike } from "../requests/query-fields.ts";
import { describePasskey, describePerson, describeSession, PERSON } from "../web/session.ts";
import { describePage, subjectOf } from "./admin-operation.ts";
import { describeUsage, startOfUsage, USAGE } from "./keys.ts";
import { SERVER } from "./servers.ts";

const NOW = 1_794_722_314_688;
const NEW_PERSON = { ...PERSON, last_seen_at: null, passkeys: 0, sessions: 0 };
const SESSION = {
  session_id: "ses_9fWc2LrT6yQxB4mHsZ1k",
  description: "Firefox, Windows",
  created_at: NOW - HOUR_MS,
  last_used_at: NOW,
  expires_at: NOW + 30 * DAY_MS,
};
const PASSKEY = {
  passkey_id: "psk_7uJd3NvE0aHtK5pWgF8r",
  label: "Safari, iPhone",
  created_at: NOW - DAY_MS,
  last_used_at: NOW,
};
const INVITATION = {
  url: "https://gatehouse.example.org/#/invitation/gti_EXAMPLEonlyEXAMPLEonlyEXAMPLEonlyEXAMPLEonly0",
  expires_at: NOW + DAY_MS,
};
const [VIEWER, , MODERATOR] = FIRST_ROLES.map(manage.describeRole);
const NEW_ROLE = { title: "Event team", ...describeRights({ sections: 1, hide: 1, commands: [":h"], may: 0 }) };

const WITHIN =
  "Somebody with the right `people` sees and changes only roles on their own servers, and never gives, changes or takes more than they have themselves.";
const WHOLE_PERSON =
  "For somebody who is no operator only with people who are none either, and who have no role on another server, nor one that is more than their own.";

const people = subjectOf("People");

export const personOperations = {
  list: people.list({
    id: "listPeople",
    summary: "List people",
    description: "Oldest first.",
    query: {
      server_id: OF_SERVER,
      name: textLike(
        `must be a part of a name, at most ${PERSON_NAME_MAX} characters`,
        Type.String({ maxLength: PERSON_NAME_MAX }),
        { description: "Only people with this in their name, without case.", mayBeEmpty: true },
        /^[\s\S]{0,50}$/u,
      ),
    },
    item: wire.PersonResource,
    example: PERSON,
    async read(parts, page, request) {
      const { server_id: serverId, name } = request.query;
      const found = await manage.listPeople(parts, page, { serverId, name }, request);
      return describePage(found, (person) => describePerson(manage.showTo(person, request.authority)));
    },
  }),

  create: people.define({
    id: "createPerson",
    summary: "Add a person",
    description: `An invitation, or their \`chat_id\`, lets them sign in. A name or \`chat_id\` of another person is 409. ${WITHIN}`,
    body: takes(wire.NewPerson, { name: PERSON.name, servers: PERSON.servers, chat_id: "80351110224678912" }),
    answers: { 201: shows("The person was added.", wire.PersonResource, NEW_PERSON) },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, request) {
      const created = await manage.createPerson(parts, request.body, request);
      return isRefusal(created) ? created : describePerson(manage.showTo(created, request.authority));
    },
  }),

  show: people.define({
    id: "showPerson",
    summary: "Show a person and their usage",
    answers: {
      200: shows("The person.", wire.PersonWithUsage, {
        ...PERSON,
        usage: [{ server_id: SERVER.server_id, ...USAGE }],
      }),
    },
    errors: ["notFound"],
    async handle(parts, request) {
      const { authority, now, id } = request;
      const found = await manage.findPerson(parts, id, request);
      if (isRefusal(found)) return found;
      const usage: wire.PersonWithUsage["usage"][number][] = [];
      for (const serverId of (await parts.listRoles(found, now)).keys()) {
        if (!authority.has(serverId, "people")) continue;
        const counts = await parts.usage.read(callerIdOf(id, serverId), startOfUsage(now, parts.usageMs));
        if (counts.length > 0) usage.push({ server_id: serverId, ...describeUsage(counts) });
      }
      return { ...describePerson(manage.showTo(found, authority)), usage } satisfies wire.PersonWithUsage;
    },
  }),

  change: people.define({
    id: "changePerson",
    summary: "Change a person",
    description: `Takes effect on the very next request. \`servers\` replaces all their roles. Disabling signs them out everywhere. ${WITHIN} Other fields: ${WHOLE_PERSON}`,
    body: takes(wire.PersonUpdate, { servers: [{ server_id: SERVER.server_id, role: "head" }] }),
    answers: { 200: shows("The person as they are now.", wire.PersonResource, PERSON) },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, request) {
      const changed = await manage.changePerson(parts, request.id, request.body, request);
      return isRefusal(changed) ? changed : describePerson(manage.showTo(changed, request.authority));
    },
  }),

  delete: people.define({
    id: "deletePerson",
    summary: "Delete a person",
    description: `Signs them out everywhere. Their name stays in the audit log and with their commands. ${WHOLE_PERSON}`,
    answers: { 204: { description: "The person is gone." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) => manage.deletePerson(parts, request.id, request),
  }),

  invite: people.define({
    id: "invitePerson",
    summary: "Invite a person",
    description: `Makes a link that signs one browser in. It works once and for 24 hours, and ends the one before. The secret is in the part of the address that browsers never send. ${WHOLE_PERSON}`,
    answers: { 201: shows("The link, which is never shown again.", wire.InvitationResource, INVITATION) },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, request) {
      const made = await manage.invitePerson(parts, request.id, request);
      if (isRefusal(made)) return made;
      // In the fragment, which no browser sends and no server logs.
      const url = `${parts.findPageAddress(request.call)}/#/invitation/${made.secret}`;
      return { url, expires_at: made.expiresAt } satisfies wire.InvitationResource;
    },
  }),

  listSessions: people.define({
    id: "listPersonSessions",
    summary: "List where a person is signed in",
    description: `The most recently used first. ${WHOLE_PERSON}`,
    answers: { 200: shows("The sessions; at most 10.", wire.PersonSessionList, { items: [SESSION] }) },
    errors: ["notFound"],
    async handle(parts, request) {
      const found = await manage.listSessions(parts, request.id, request);
      return "refused" in found
        ? found
        : ({ items: found.map((session) => describeSession(session)) } satisfies wire.PersonSessionList);
    },
  }),

  endSessions: people.define({
    id: "endPersonSessions",
    summary: "Sign a person out everywhere",
    description: WHOLE_PERSON,
    answers: { 204: { description: "They are signed out." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) => manage.endSessions(parts, request.id, undefined, request),
  }),

  endSession: people.define({
    id: "endPersonSession",
    summary: "Sign a person out of one browser",
    description: WHOLE_PERSON,
    answers: { 204: { description: "The session is ended." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) =>
      manage.endSessions(parts, request.id, request.call.target.params.session ?? "", request),
  }),

  listPasskeys: people.define({
    id: "listPersonPasskeys",
    summary: "List the passkeys of a person",
    description: WHOLE_PERSON,
    answers: { 200: shows("The passkeys; at most 10.", wire.PasskeyList, { items: [PASSKEY] }) },
    errors: ["notFound"],
    async handle(parts, request) {
      const found = await manage.listPasskeys(parts, request.id, request);
      return "refused" in found ? found : ({ items: found.map(describePasskey) } satisfies wire.PasskeyList);
    },
  }),

  removePasskeys: people.define({
    id: "removePersonPasskeys",
    summary: "Remove all passkeys of a person",
    description: WHOLE_PERSON,
    answers: { 204: { description: "They have none." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) => manage.removePasskeys(parts, request.id, undefined, request),
  }),

  removePasskey: people.define({
    id: "removePersonPasskey",
    summary: "Remove a passkey of a person",
    description: WHOLE_PERSON,
    answers: { 204: { description: "The passkey is removed." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) =>
      manage.removePasskeys(parts, request.id, request.call.target.params.passkey ?? "", request),
  }),
};

export const roleOperations = {
  list: people.define({
    id: "listRoles",
    summary: "List roles",
    description: "The five that are always there first, then the others by name.",
    answers: { 200: shows("The roles; at most 20.", wire.RoleList, { items: [VIEWER, MODERATOR] }) },
    handle: async ({ store }) => ({ items: store.roles.all().map(manage.describeRole) }) satisfies wire.RoleList,
  }),

  put: people.define({
    id: "putRole",
    summary: "Make or change a role",
    description: "A changed role counts at once, for all who have it. At most 20; one more is 409.",
    body: takes(wire.NewRole, NEW_ROLE),
    answers: { 200: shows("The role as it is now.", wire.RoleResource, { name: "event-team", ...NEW_ROLE }) },
    errors: ["conflict"],
    changes: "store",
    async handle(parts, request) {
      const put = await manage.putRole(parts, request.call.target.params.name ?? "", request.body, request);
      return isRefusal(put) ? put : manage.describeRole(put);
    },
  }),

  delete: people.define({
    id: "deleteRole",
    summary: "Delete a role",
    description: "One that somebody has, or one of the five that are always there, is 409.",
    answers: { 204: { description: "The role is gone." } },
    errors: ["notFound", "conflict"],
    changes: "store",
    handle: (parts, request) => manage.deleteRole(parts, request.call.target.params.name ?? "", request),
  }),
};
