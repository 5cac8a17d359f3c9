// Shows the page of a one-time link while the address has one, and everything else otherwise. The link is taken out of the
// address at once, so that it is not copied, bookmarked or seen by others.
import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { LoadingState } from "./parts/states.tsx";
import { useRoute } from "./state/route.ts";

const LINK_ROUTE = /^link\/(gtl_[0-9A-Za-z]{1,96})$/;

type LinkPage = ComponentType<{ readonly link: string; readonly onDone: () => void }>;

export function LinkGate({ children }: { readonly children: ReactNode }) {
  const found = LINK_ROUTE.exec(useRoute())?.[1];
  const [link, setLink] = useState(found);
  const [Page, setPage] = useState<LinkPage>();

  useEffect(() => {
    if (found === undefined) return;
    setLink(found);
    history.replaceState(null, "", location.pathname);
  }, [found]);

  useEffect(() => {
    if (link === undefined) return;
    // A failure leaves the loading state; the link still works after a reload, as it was not used.
    void import("./link-sign-in.tsx").then(({ LinkSignIn }) => setPage(() => LinkSignIn));
  }, [link]);

  if (link === undefined) return children;
  return Page ? <Page key={link} link={link} onDone={() => setLink(undefined)} /> : <LoadingState />;
}
