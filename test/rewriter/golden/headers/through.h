#pragma once
#include "inner/deepest.h"
