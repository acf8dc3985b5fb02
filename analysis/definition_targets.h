// The targets (__host__, __device__) of functions that are only declared with them. nvcc takes a definition
// for that of the declaration, whatever stands in front of it; Clang takes it for another function, and
// refuses it. Such a source is parsed once more, with the attributes put in between its tokens.
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <clang/Lex/Preprocessor.h>
#include <map>
#include <string>
#include <utility>

namespace warplens::analysis {

/// The attributes that a definition lacks.
struct Targets {
  bool host = false, device = false;
  unsigned name = 0; ///< the offset of the definition's name
};

/// The definitions that lack attributes: real path and offset of the first token of each, which may be a
/// macro that stands for nothing.
using DefinitionTargets = std::map<std::pair<std::string, unsigned>, Targets>;

/// Adds the definition that an error is about, if it is one whose declaration has other targets.
void note_definition(const clang::Diagnostic& error, DefinitionTargets& lacking);

/// Returns whether an error is that a __shared__ object has no constructor that may be called. nvcc calls
/// none, so that one for the host will do; Clang's notes behind the error say which there are.
bool is_about_shared_object(const clang::Diagnostic& error);

/// Adds the constructor that such a note is about.
void note_constructor(const clang::Diagnostic& note, DefinitionTargets& lacking);

/// Puts attributes in front of the token if it begins such a definition, which then lacks nothing any more.
/// Must be called with each token of a parse, as it is made.
void insert_targets(clang::Preprocessor& preprocessor, const clang::Token& token, DefinitionTargets& lacking);

} // namespace warplens::analysis
