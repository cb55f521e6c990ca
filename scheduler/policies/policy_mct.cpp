#include "scheduler/policies/policy_mct.h"

#include "scheduler/policies/earliest_finish.h"

namespace heteroscope {

PolicyInfo MctPolicy::info() {
    return {"mct",
            "Minimum completion time: as soon as a job is ready it joins the queue of the device that would finish it "
            "first by prediction, counting what is queued there, bringing its data and the run itself. Devices whose "
            "run time is not known yet count as equal. Source: M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, "
            "R. F. Freund, Dynamic Mapping of a Class of Independent Tasks onto Heterogeneous Computing Systems, "
            "Journal of Parallel and Distributed Computing 59(2), 1999; with data transfers it is \"dmda\" in the "
            "StarPU handbook.",
            {},
            [](const std::map<std::string, double>&) { return std::make_unique<MctPolicy>(); },
            explainByFinish};
}

DeviceIndex MctPolicy::choose(Decision& decision, const SystemView&) {
    return chooseEarliestFinish(decision);
}

}  // namespace heteroscope
