// The name of a kernel's variant with probes, beside the user's own of the same module.
#pragma once

#define WARPLENS_PROBED_SUFFIX "__warplens_probed"
