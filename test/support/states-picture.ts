import type { TransitionTable } from '../../pipelines/branding/states.ts';

const colors: Record<string, string> = {
  approved: '#d5f0d9',
  verified: '#d5f0d9',
  expiring: '#e9f0c8',
  rejected: '#f6d5d5',
  permanently_rejected: '#f6d5d5',
  unsuccessful: '#f6d5d5',
  in_review: '#fdf0c9',
};

/**
 * The transition tables as a drawing in the language of Graphviz, one machine a table; an edge has the names of the actions
 * that lead along it. A state with a double line is one that nothing leaves.
 */
export function drawStates(tables: readonly TransitionTable<string, string>[]): string {
  const head =
    'digraph states {\n  rankdir=LR; nodesep=0.35; ranksep=0.7; bgcolor="white";\n  node [shape=box style="rounded,filled" fillcolor="#eef1f5" fontname="Helvetica" fontsize=12];\n  edge [fontname="Helvetica" fontsize=10 color="#50596a"];\n';
  return `${head}${tables.map(drawTable).join('')}}\n`;
}

function drawTable({ kind, states, actions }: TransitionTable<string, string>): string {
  const edges = new Map<string, string[]>();
  for (const [action, { from, to }] of Object.entries(actions)) {
    for (const state of from) edges.set(`${state} ${to}`, [...(edges.get(`${state} ${to}`) ?? []), action]);
  }
  const final = (state: string) => ![...edges.keys()].some((edge) => edge.startsWith(`${state} `));
  const nodes = states.map(
    (state) =>
      `    ${kind}_${state} [label="${state}"${colors[state] === undefined ? '' : ` fillcolor="${colors[state]}"`}${final(state) ? ' peripheries=2' : ''}];\n`,
  );
  const lines = [...edges].map(([edge, names]) => {
    const [from, to] = edge.split(' ');
    return `    ${kind}_${from} -> ${kind}_${to} [label="${names.join(', ')}"];\n`;
  });
  return `  subgraph cluster_${kind} {\n    label="${kind}"; labeljust=l; fontname="Helvetica-Bold"; fontsize=14; color="#c3c9d3"; style=rounded;\n${nodes.join('')}${lines.join('')}  }\n`;
}
