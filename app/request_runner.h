#pragma once

#include "app/holder.h"
#include "app/request.h"

namespace heteroscope {

/// Carries a request out on the process that holds the data folder, to its end: jobs are waited for, except by
/// `submit`. When `reporter.stop` says so its jobs are cancelled and the answer has status 130. Any thread but the
/// window's: blocks.
Answer carryOut(const Request& request, Holder& holder, const Reporter& reporter);

}  // namespace heteroscope
