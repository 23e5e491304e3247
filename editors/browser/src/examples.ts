// The examples that need no file beside them, by what they show.

import capsule from '../../../examples/capsule.relay';
import fitLine from '../../../examples/fit_line.relay';
import layers from '../../../examples/layers.relay';
import ownOperators from '../../../examples/own_operators.relay';
import schedules from '../../../examples/schedules.relay';

/** The first is what a new page shows. */
export const examples: readonly { title: string; text: string }[] = [
  { title: 'A line by gradient descent', text: fitLine },
  { title: 'Layers, with tests', text: layers },
  { title: 'Capsule convolution', text: capsule },
  { title: "Operators of one's own", text: ownOperators },
  { title: 'A schedule by hand', text: schedules },
];
