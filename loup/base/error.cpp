#include "loup/base/error.h"

namespace loup {

Error::~Error() = default;

}  // namespace loup
