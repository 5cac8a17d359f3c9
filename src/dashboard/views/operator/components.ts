// The operator's views by name, in one lazy file: what only they use is not loaded with the page.
import { AuditView } from "./audit/audit.tsx";
import { BlocksView } from "./blocks.tsx";
import { OperatorCommandsView } from "./commands.tsx";
import { HealthView } from "./health/health.tsx";
import { KeysView } from "./keys/keys.tsx";
import { PeopleView } from "./people/people.tsx";
import { ServersView } from "./servers/servers.tsx";
import { WebhooksView } from "./webhooks/webhooks.tsx";

export const OPERATOR_COMPONENTS = {
  servers: ServersView,
  people: PeopleView,
  keys: KeysView,
  blocks: BlocksView,
  commands: OperatorCommandsView,
  webhooks: WebhooksView,
  audit: AuditView,
  health: HealthView,
};

/** Also a part of the overview. */
export { ReadinessAlert } from "./health/notices.tsx";
