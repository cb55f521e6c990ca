#pragma once

namespace heteroscope {

/// Makes SIGINT and SIGTERM set a flag; a second one ends the process at once with status 130.
void watchInterrupts();

/// Has the person asked to stop? Any thread.
bool interrupted();

/// Becomes readable when the person has asked to stop: for an event loop.
int interruptDescriptor();

}  // namespace heteroscope
