// Generalisation: which unknowns become variables, and their constraints.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/general/general.h"

namespace quern {

GeneralMark General::mark() {
  return {relations_.all().size(), operators_.open_matches.size(), context_.error_count(),
          unifier_.dtype_count()};
}

namespace {

// Whether an argument of the function determines a dim: as its own extent, or one in a tuple field.
bool shows(Type argument, Dim dim) {
  if (std::find(argument->dims.begin(), argument->dims.end(), dim) != argument->dims.end()) return true;
  return argument->kind == TypeKind::Tuple &&
         std::any_of(argument->args.begin(), argument->args.end(), [&](Type t) { return shows(t, dim); });
}

// Generates names for unnamed variables.
class FreshNames {
 public:
  explicit FreshNames(const std::vector<Scheme>& schemes) {
    for (const Scheme& s : schemes) {
      for (Dim d : s.dim_vars) taken_.insert(to_string(d));
      for (Type t : s.type_vars) taken_.insert(to_string(t));
      for (const auto& [t, _] : s.dtype_vars) taken_.insert(to_string(t));
    }
  }
  std::string dim() { return next('d', dims_); }
  std::string dtype() { return next('t', dtypes_); }
  std::string type() {
    std::string name;
    do name = types_ < 26 ? std::string(1, static_cast<char>('A' + types_)) : fmt::format("A{}", types_ - 25);
    while (++types_, !taken_.insert(name).second);
    return name;
  }

 private:
  std::string next(char letter, int& count) {
    std::string name;
    do name = fmt::format("{}{}", letter, count++);
    while (!taken_.insert(name).second);
    return name;
  }
  std::set<std::string> taken_;
  int dims_ = 0, types_ = 0, dtypes_ = 0;
};

}  // namespace

// The steps of generalisation since a mark.
class General::Generalisation : public Component {
 public:
  Generalisation(General& general, const GeneralMark& from, const std::vector<Type>& types, Dims dims)
      : Component(general.context_),
        relations_(general.relations_),
        matches_(general.operators_.open_matches),
        made_(general.made_),
        from_(from),
        types_(types),
        dims_(dims) {}

  std::vector<Scheme> run(std::vector<Scheme> schemes) {
    find_general();
    settle_outside();
    for (Type type : types_)
      for (Unknown u : unifier_.unknowns(type))
        if (unifier_.is_inner(u)) general_.insert(u);
    waiting_ = waiting_relations();
    for (size_t i : waiting_)
      if (auto c = Operators::constraint_of(relations_.all()[i].draft)) constraints_.push_back(std::move(*c));
    assume_open_matches();
    for (size_t i : waiting_) relations_.all()[i].done = true;
    quantify_all(schemes);
    finish(schemes);
    return schemes;
  }

 private:
  // Runs inner relations, whose results belong to the inner level.
  bool run_inside() {
    unifier_.enter_level();
    relations_.run();
    unifier_.leave_level();
    return true;
  }

  // Literals unrelated to parameters take their defaults.
  bool take_defaults() {
    std::set<Unknown> kept = relations_.awaiting_literals();
    kept.insert(general_.begin(), general_.end());
    return unifier_.apply_inner_defaults(from_.dtypes, kept) ||
           unifier_.apply_inner_defaults(from_.dtypes, general_);
  }

  // Finds the inner unknowns of parameters, also of a function that is the result, and those that depend on them.
  void find_general() {
    run_inside();
    do {
      for (Type type : types_)
        for (Type f = resolve(type); f->kind == TypeKind::Function; f = f->result())
          for (Type param : f->params())
            for (Unknown u : unifier_.unknowns(param))
              if (unifier_.is_inner(u)) general_.insert(u);
      waiting_ = waiting_relations();
    } while ((take_defaults() || unifier_.settle_broadcasts(true)) && run_inside());
  }

  // Leaves to the outer level what no parameter determines: the unknowns that a relation waits for, and those of its
  // value.
  void settle_outside() {
    for (size_t i = from_.relations; i < relations_.all().size(); ++i) {
      const Relation& relation = relations_.all()[i];
      if (relation.done || std::ranges::binary_search(waiting_, i)) continue;
      std::vector<Unknown> others = unifier_.unknowns(relation.draft->type);
      others.insert(others.end(), relation.waits_for.begin(), relation.waits_for.end());
      for (Unknown u : others)
        if (!general_.contains(u)) unifier_.settle_outside(u);
    }
  }

  // The waiting relations that involve generalised unknowns; their other unknowns are generalised, too.
  std::vector<size_t> waiting_relations() {
    std::unordered_map<Unknown, std::vector<size_t>, UnknownHash> waiting;
    for (size_t i = from_.relations; i < relations_.all().size(); ++i)
      if (!relations_.all()[i].done)
        for (Unknown u : relations_.all()[i].waits_for) waiting[u].push_back(i);
    std::vector<size_t> found;
    std::set<size_t> seen;
    std::vector<Unknown> todo(general_.begin(), general_.end());
    auto add = [&](Unknown u) {
      if (unifier_.is_inner(u) && general_.insert(u).second) todo.push_back(u);
    };
    while (!todo.empty()) {
      Unknown next = todo.back();
      todo.pop_back();
      for (size_t i : waiting[next]) {
        if (!seen.insert(i).second) continue;
        found.push_back(i);
        const Relation& relation = relations_.all()[i];
        for (Unknown u : relation.waits_for) add(u);
        for (Unknown u : unifier_.unknowns(relation.draft->type)) add(u);
        if (auto* call = as<OperatorCallDraft>(relation.draft))
          for (Type t : call->call.tensors)
            for (Unknown u : unifier_.unknowns(t)) add(u);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // Calls matched while dims were open must hold at each use for its dims.
  void assume_open_matches() {
    std::vector<OperatorCallDraft*> still_open;
    for (size_t i = from_.matches; i < matches_.size(); ++i) {
      auto c = Operators::constraint_of(matches_[i]);
      bool inner = false, outer = false;
      for (Type t : c ? c->args : std::vector<Type>())
        for (Unknown u : unifier_.unknowns(t)) {
          bool of_this = general_.contains(u) || (u.kind == Unknown::Kind::Dim && unifier_.is_inner(u));
          (of_this ? inner : outer) = true;
        }
      if (outer) still_open.push_back(matches_[i]);
      if (!inner) continue;
      for (Type t : c->args)
        for (Unknown u : unifier_.unknowns(t))
          if (unifier_.is_inner(u)) general_.insert(u);
      constraints_.push_back(std::move(*c));
      matches_[i]->assumed = true;
    }
    matches_.resize(from_.matches);
    matches_.insert(matches_.end(), still_open.begin(), still_open.end());
  }

  // --- replacing unknowns by variables
  void quantify_all(const std::vector<Scheme>& written) {
    FreshNames names(written);
    common_.specialised = !waiting_.empty();
    for (Type type : types_) quantify(type, names);
    for (const Constraint& c : constraints_) {
      for (Type t : c.args) quantify(t, names);
      quantify(c.result, names);
    }
    common_.specialised |= !common_.dtype_vars.empty();
  }

  void quantify(Type in, FreshNames& names) {
    for (Unknown u : unifier_.unknowns(in)) {
      if (!general_.contains(u)) continue;
      switch (u.kind) {
        case Unknown::Kind::Type:
          common_.type_vars.push_back(type_var(names.type()));
          unifier_.settle(u, common_.type_vars.back());
          break;
        case Unknown::Kind::DType: {
          DType unknown = DType::infer(static_cast<uint32_t>(u.id));
          common_.dtype_vars.emplace_back(dtype_var(names.dtype()), unifier_.class_of(unknown));
          unifier_.settle(u, common_.dtype_vars.back().first);
          break;
        }
        case Unknown::Kind::Dim:
          if (!is_shown(u)) {
            unifier_.settle_outside(u);
            break;
          }
          common_.dim_vars.push_back(dim_var(names.dim()));
          made_.insert(common_.dim_vars.back());
          unifier_.settle(u, common_.dim_vars.back());
          break;
      }
    }
  }

  bool is_shown(Unknown dim) {
    if (dims_ == Dims::All) return true;
    return std::ranges::any_of(types_, [&](Type type) {
      Type settled = resolve(type);
      return settled->kind == TypeKind::Function && std::ranges::any_of(settled->params(), [&](Type param) {
               return shows(param, unifier_.dim_of(dim));
             });
    });
  }

  Type final_type(Type t) { return resolve(t)->has_infer ? resolve(t) : context_.final_type(t); }

  void finish(std::vector<Scheme>& schemes) {
    for (Constraint& c : constraints_) {
      for (Type& t : c.args) t = final_type(t);
      c.result = final_type(c.result);
    }
    for (size_t k = 0; k < types_.size(); ++k) {
      Scheme& s = schemes[k];
      s.dim_vars.insert(s.dim_vars.end(), common_.dim_vars.begin(), common_.dim_vars.end());
      s.type_vars.insert(s.type_vars.end(), common_.type_vars.begin(), common_.type_vars.end());
      s.dtype_vars.insert(s.dtype_vars.end(), common_.dtype_vars.begin(), common_.dtype_vars.end());
      s.constraints.insert(s.constraints.end(), constraints_.begin(), constraints_.end());
      s.specialised |= common_.specialised;
      s.type = final_type(types_[k]);
    }
  }

  Relations& relations_;
  std::vector<OperatorCallDraft*>& matches_;
  std::set<Dim>& made_;
  const GeneralMark& from_;
  const std::vector<Type>& types_;
  const Dims dims_;
  std::set<Unknown> general_;
  std::vector<size_t> waiting_;  ///< indices of relations, in order
  std::vector<Constraint> constraints_;
  Scheme common_;  ///< the part common to all schemes
};

std::vector<Scheme> General::generalise(const GeneralMark& mark, const std::vector<Type>& types,
                                        std::vector<Scheme> written, Dims dims) {
  return Generalisation(*this, mark, types, dims).run(std::move(written));
}

}  // namespace quern
