// Shows the page of an invitation while the address has one, and everything else otherwise. The secret is taken out of the
// address at once, so that it is not copied, bookmarked or seen by others.
import { type ReactNode, useEffect, useState } from "react";
import { LazyView } from "../parts/lazy-view.tsx";
import { useRoute } from "../state/route.ts";

const INVITATION_ROUTE = /^invitation\/(gti_[0-9A-Za-z]{1,96})$/;

const loadPage = async () => (await import("./invitation-page.tsx")).InvitationPage;

export function InvitationGate({ children }: { readonly children: ReactNode }) {
  const found = INVITATION_ROUTE.exec(useRoute())?.[1];
  const [secret, setSecret] = useState(found);

  useEffect(() => {
    if (found === undefined) return;
    setSecret(found);
    history.replaceState(null, "", location.pathname);
  }, [found]);

  if (secret === undefined) return children;
  return <LazyView key={secret} load={loadPage} given={{ secret, onDone: () => setSecret(undefined) }} />;
}
