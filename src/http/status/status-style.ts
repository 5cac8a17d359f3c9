// The style of the public status page, for light and dark, narrow and wide. The chart reads from the right, so that a phone
// begins with today.

export const STATUS_STYLE = `
:root{--page:#f4f5f7;--card:#fff;--line:#e1e4ea;--text:#17202e;--quiet:#566074;--link:#1a56c4;
--online:#167a3c;--offline:#566074;--unreachable:#b42318;--unknown:#566074;--bar:#2563eb;--most:#bfd4fb;--grid:#e4e7ec;--gap:#b8bfcc}
@media(prefers-color-scheme:dark){:root{--page:#0e1219;--card:#171d27;--line:#2a3341;--text:#e8ecf2;--quiet:#a3adbd;--link:#8ab4ff;
--online:#4cc97a;--offline:#a3adbd;--unreachable:#ff8a7a;--unknown:#a3adbd;--bar:#6ea2ff;--most:#2c4470;--grid:#2a3341;--gap:#55617a}}
*{box-sizing:border-box}
body{margin:0;padding:clamp(1rem,4vw,3rem) 1rem;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,footer{max-width:46rem;margin:0 auto}
header,section,.figures{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem clamp(1rem,4vw,1.75rem);margin:0 0 1rem}
.kicker{margin:0;color:var(--quiet);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
h1{margin:.1rem 0 .6rem;font-size:clamp(1.5rem,5vw,2.1rem);line-height:1.2;overflow-wrap:anywhere}
h2{margin:0 0 .75rem;font-size:1.05rem}
.state{display:inline-flex;align-items:center;gap:.5rem;margin:0;font-weight:650}
header .state{font-size:1.15rem}
.dot{width:.7em;height:.7em;border-radius:50%;background:currentColor;flex:none}
.online{color:var(--online)}.offline{color:var(--offline)}.unreachable{color:var(--unreachable)}.unknown{color:var(--unknown)}
.hint,.quiet{margin:.4rem 0 0;color:var(--quiet)}
section .quiet{margin:0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1rem 1.5rem}
.figures div{min-width:0}
dt{color:var(--quiet);font-size:.85rem}
dd{margin:0;font-size:1.9rem;font-weight:700;line-height:1.25;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd small{font-size:1.1rem;font-weight:500;color:var(--quiet)}
dd .text,dd code{font-size:1.1rem;font-weight:600}
.meter{display:block;width:100%;height:6px;margin-top:.35rem;border-radius:3px;overflow:hidden}
.meter .rest{fill:var(--grid)}.meter .full{fill:var(--online)}
.chart{overflow-x:auto;direction:rtl}
.chart:focus-visible{outline:2px solid var(--link)}
.week{direction:ltr;display:block;width:100%;min-width:38rem;height:auto}
.week .average{fill:var(--bar)}.week .most{fill:var(--most)}.week .gap{fill:var(--gap)}
.week .grid{stroke:var(--grid);stroke-width:1}.week .axis{fill:var(--quiet);font-size:12px;font-family:inherit}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.6rem 0 0;color:var(--quiet);font-size:.85rem}
.legend span{display:inline-flex;align-items:center;gap:.4rem}
.legend i{width:.8rem;height:.8rem;border-radius:3px}
.legend .average{background:var(--bar)}.legend .most{background:var(--most)}.legend .gap{background:var(--gap);height:.25rem}
.outages{list-style:none;margin:0;padding:0}
.outages li{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:.5rem 0;border-top:1px solid var(--line)}
.outages li:first-child{border-top:0;padding-top:0}.outages li:last-child{padding-bottom:0}
.outages .state{min-width:8.5rem;font-size:.95rem}
.length{margin-left:auto;color:var(--quiet);font-variant-numeric:tabular-nums}
footer{color:var(--quiet);font-size:.85rem}
footer p{margin:0 0 .5rem}
nav{margin-bottom:.5rem;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
a{color:var(--link)}
a[aria-current]{color:inherit;text-decoration:none;font-weight:650}
a:focus-visible{outline:2px solid currentColor;outline-offset:2px;border-radius:3px}
`;
