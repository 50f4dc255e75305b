"""The style sheet of an evidence page; its hash stands in the page's policy, so it is one constant text."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--page:#f7f8fa;--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#dfe4ea;--faint:#eef1f5;
--blue:#2456c8;--blue-soft:#e8effd;--green:#17724a;--green-soft:#e2f4ea;--red:#b3261e;--red-soft:#fdeceb;--hand:#8a5a00;
--hand-soft:#fdf3dc}
@media(prefers-color-scheme:dark){:root{--page:#12161c;--paper:#1a2028;--ink:#e4e9f0;--soft:#9ba7b6;--line:#2d3642;
--faint:#222a34;--blue:#8db2ff;--blue-soft:#1d2c4a;--green:#6fd3a0;--green-soft:#17332a;--red:#ff958c;--red-soft:#40201f;
--hand:#eec16a;--hand-soft:#372c14}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
Helvetica,Arial,sans-serif;overflow-wrap:anywhere}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
p,ul,ol,dl,figure,blockquote,pre{margin:0}
ul,ol{padding:0;list-style:none}
a{color:var(--blue);text-underline-offset:.15em}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
h1{font-size:1.9rem;line-height:1.2;margin:.15rem 0 1.1rem;font-weight:680;letter-spacing:-.01em}
h2{font-size:1.15rem;margin:0 0 .9rem;font-weight:650}
section{margin-top:2.6rem;scroll-margin-top:1rem}
.over{color:var(--soft);font-size:.88rem}
.over b{color:var(--ink);font-weight:600}
.quiet,small{color:var(--soft);font-size:.86rem}
.ok,.plus{color:var(--green)}
.no,.minus{color:var(--red)}
.hand{color:var(--hand)}
.warn{color:var(--red)}
.card{background:var(--paper);border:1px solid var(--line);border-left:5px solid var(--blue);border-radius:12px;
padding:1.1rem 1.3rem}
.card.end{border-left-color:var(--green)}
.card .state{font-size:1.6rem;font-weight:680;line-height:1.25}
.card .warn{margin-top:.5rem}
.next{margin-top:.7rem}
.next summary{cursor:pointer;color:var(--blue);width:max-content;max-width:100%}
.next .moves{margin:.5rem 0 0;display:grid;gap:.5rem}
.next .why{padding-left:1.2rem;color:var(--soft);font-size:.9rem}
.glance{display:flex;flex-wrap:wrap;gap:.4rem;margin-top:1rem}
.glance a{display:block;padding:.12rem .7rem;border-radius:99px;background:var(--faint);color:var(--ink);
text-decoration:none;font-size:.86rem}
.glance a.no{background:var(--red-soft);color:var(--red)}
.flag{background:var(--red-soft);color:var(--red);border-radius:99px;padding:.05rem .55rem;font-size:.8rem;
white-space:nowrap}
.told{margin-top:.3rem}
.told summary{margin:0;padding:.2rem 0}
.box .fields{margin:.6rem 0 .3rem}
.fields .undone li,.fields .wishes li{padding:.1rem 0}
.glance a.hand,span.hand{background:var(--hand-soft);color:var(--hand)}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin-top:1.1rem;font-size:.9rem}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
.fields{display:grid;grid-template-columns:minmax(7rem,11rem) minmax(0,1fr);background:var(--paper);
border:1px solid var(--line);border-radius:12px;overflow:hidden;margin:.6rem 0}
.fields dt,.fields dd{padding:.55rem 1.1rem;margin:0;border-top:1px solid var(--line)}
.fields dt{color:var(--soft);font-size:.9rem}
.fields dd{white-space:pre-wrap;padding-left:0}
.fields dt:first-of-type,.fields dd:first-of-type{border-top:0}
.fields dd .quiet{white-space:normal}
.way{background:var(--paper);border:1px solid var(--line);border-radius:12px;padding:.8rem 1rem 1rem}
.way svg{display:block;width:100%;height:auto}
.way .column,.way .narrow{display:none}
.way .only{max-width:26rem;margin:0 auto}
.way figcaption{color:var(--soft);font-size:.86rem;margin-top:.6rem}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;
text-anchor:middle;fill:var(--ink)}
svg rect{fill:var(--paper);stroke:var(--line);stroke-width:1.2}
svg .inner{fill:none}
svg .been rect{fill:var(--green-soft);stroke:var(--green)}
svg .now rect{fill:var(--blue-soft);stroke:var(--blue);stroke-width:2.2}
svg .been .inner,svg .now .inner{fill:none;stroke-width:1}
svg .now text{font-weight:700}
svg .pale text{fill:var(--soft);opacity:.75}
svg .pale rect{fill:none;stroke-dasharray:3 3}
svg .pale .inner{stroke-dasharray:none;opacity:.7}
svg path{fill:none}
svg .taken{stroke:var(--blue);stroke-width:1.7}
svg .tip{fill:var(--blue)}
svg .wished{stroke:var(--red);stroke-width:1.3;stroke-dasharray:4 4}
svg .plate rect{fill:var(--paper);stroke:var(--blue);stroke-width:1}
svg .plate text{font-size:11px;font-weight:650;fill:var(--blue)}
svg .plate.no rect{fill:var(--red-soft);stroke:var(--red)}
svg .plate.no text{fill:var(--red)}
.timeline>li{display:grid;grid-template-columns:4.6rem minmax(0,1fr);padding-bottom:1.1rem;position:relative}
.timeline .day{display:block;color:var(--soft);font-size:.86rem;font-weight:600;padding-bottom:.6rem}
.timeline time{color:var(--soft);font:12.5px/1.9 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",
monospace}
.timeline>li>div{border-left:2px solid var(--line);padding:0 0 .1rem 1.2rem;position:relative}
.timeline>li>div::before{content:"";position:absolute;left:-7px;top:.45rem;width:12px;height:12px;border-radius:50%;
background:var(--soft);border:2px solid var(--page)}
.timeline .moved>div::before{background:var(--blue)}
.timeline .refused>div::before,.timeline .restored>div::before{background:var(--red)}
.timeline .said>div::before{background:var(--hand)}
.timeline .acted>div::before{background:var(--line)}
.timeline .acted{font-size:.9rem;color:var(--soft)}
.head .who{color:var(--soft);font-size:.9rem}
.number{font-style:normal;display:inline-block;min-width:1.45rem;padding:0 .35rem;border:1px solid var(--blue);
border-radius:99px;color:var(--blue);font-size:.78rem;font-weight:650;text-align:center;line-height:1.3rem}
.gates{display:grid;gap:.15rem;margin:.35rem 0;font-size:.92rem}
.gates small{display:block;padding-left:1.2rem}
.gates span.hand{border-radius:99px;padding:0 .5rem;font-size:.8rem;white-space:nowrap}
.why{display:grid;gap:.3rem;margin:.3rem 0}
.timeline .why>li{border-left:3px solid var(--red);padding-left:.7rem}
blockquote{border-left:3px solid var(--hand);padding:.1rem 0 .1rem .8rem;margin:.35rem 0;white-space:pre-wrap}
.box{background:var(--paper);border:1px solid var(--line);border-radius:12px;margin:.6rem 0;padding:.6rem 1rem}
.box summary{cursor:pointer;margin:-.6rem -1rem;padding:.6rem 1rem}
.box[open] summary{margin-bottom:.2rem}
.box summary code{font-weight:600}
.side{color:var(--soft);font-size:.86rem;margin-left:.4rem}
.box pre{background:var(--faint);border-radius:8px;padding:.7rem .9rem;margin:.4rem 0;white-space:pre-wrap;
overflow-wrap:anywhere;tab-size:4;max-height:32rem;overflow-y:auto}
.box img{display:block;max-width:100%;height:auto;margin:.5rem 0;border:1px solid var(--line);border-radius:8px;
background:#fff}
.attempt{margin-top:.5rem;font-size:.92rem}
.cut{color:var(--hand)}
.diff span{display:block;margin:0 -.9rem;padding:0 .9rem}
.diff .add{background:var(--green-soft);color:var(--green)}
.diff .del{background:var(--red-soft);color:var(--red)}
.diff .hunk{color:var(--soft);padding-top:.3rem;padding-bottom:.3rem}
.digest{font-size:.8rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:.4rem .6rem;border-top:1px solid var(--line)}
th{color:var(--soft);font-weight:500}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.86rem}
@media(max-width:44rem){
main{padding:1rem .9rem 3rem}
h1{font-size:1.5rem}
.card{padding:.9rem 1rem}
.fields{display:block}
.fields dt{padding-bottom:0}
.fields dd{padding:0 1.1rem .55rem;border-top:0}
.way{padding:.6rem .4rem .8rem}
.way figcaption{padding:0 .5rem}
.way .row,.way .wide{display:none}
.way .column{display:block}
.way .narrow{display:inline}
.timeline>li{display:block}
.timeline time{display:block;padding-left:1.2rem;border-left:2px solid var(--line)}
.side{display:block;margin-left:0}
}
@media print{
:root{--page:#fff}
body{font-size:11pt}
main{max-width:none;padding:0}
nav,.next summary{display:none}
.box pre{max-height:none}
details::details-content{content-visibility:visible;block-size:auto}
h2{break-after:avoid}
.way,.card,.timeline>li{break-inside:avoid}
}
"""
