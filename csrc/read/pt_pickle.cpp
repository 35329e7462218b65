// SPDX-License-Identifier: Apache-2.0
// The opcodes, and what becomes of them: a stack of values, none of which is an object.
#include "read/pt_pickle.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "read/printable.h"
#include "read/pt_globals.h"
#include "read/pt_values.h"

namespace msprobe::read {
namespace {

class Unpickler {
 public:
  Unpickler(std::span<const std::byte> pickle, const PickleSource& source)
      : pickle_(pickle), source_(source), values_([this] { return where(); }) {}

  PickledTensor read() {
    while (!step(take<std::uint8_t>())) {
    }
    if (!marks_.empty() || stack_.size() != 1) {
      fail_here("the pickle must end with one value, got ", stack_.size(), " and ", marks_.size(), " open marks");
    }
    return values_.take_tensor(stack_.back());
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail(where(), parts...);
  }
  [[nodiscard]] std::string where() const {
    return source_.subject + ", byte " + std::to_string(source_.offset + opcode_at_) + ": ";
  }

  // --- the bytes ---------------------------------------------------------------------------------------------------------

  std::span<const std::byte> take_bytes(std::uint64_t count) {
    if (count > pickle_.size() - at_) {
      fail_here("the pickle ends in the middle: ", count, " bytes are announced, ", pickle_.size() - at_, " are left");
    }
    const auto bytes = pickle_.subspan(at_, count);
    at_ += count;
    return bytes;
  }

  template <class Integer>
  Integer take() {
    std::uint64_t value = 0;
    int shift = 0;
    for (const std::byte byte : take_bytes(sizeof(Integer))) {
      value |= static_cast<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    return static_cast<Integer>(value);
  }

  std::string_view take_text(std::uint64_t count) {
    const auto bytes = take_bytes(count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::string_view take_line() {
    const std::string_view rest(reinterpret_cast<const char*>(pickle_.data()) + at_, pickle_.size() - at_);
    const std::size_t end = rest.find('\n');
    const std::string_view line = take_text(end == std::string_view::npos ? rest.size() + 1 : end + 1);
    return line.substr(0, line.size() - 1);
  }

  // Little-endian, two's complement.
  std::int64_t take_long(std::size_t count) {
    if (count > sizeof(std::int64_t)) {
      fail_here("the integers of a tensor's description must fit 64 bits, got one of ", count, " bytes");
    }
    std::uint64_t value = 0;
    const auto bytes = take_bytes(count);
    for (std::size_t index = 0; index < count; ++index) {
      value |= static_cast<std::uint64_t>(bytes[index]) << (8 * index);
    }
    if (count > 0 && count < sizeof value && (static_cast<unsigned>(bytes[count - 1]) & 0x80U) != 0) {
      value |= ~std::uint64_t{0} << (8 * count);
    }
    return static_cast<std::int64_t>(value);
  }

  // --- the stack ---------------------------------------------------------------------------------------------------------

  void push(ValueId value) { stack_.push_back(value); }

  ValueId pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) {
      fail_here("the pickle takes a value from an empty stack");
    }
    const ValueId value = stack_.back();
    stack_.pop_back();
    return value;
  }

  std::vector<ValueId> pop_many(std::size_t count) {
    std::vector<ValueId> values(count);
    for (std::size_t index = count; index-- > 0;) {
      values[index] = pop();
    }
    return values;
  }

  std::vector<ValueId> pop_to_mark() {
    if (marks_.empty()) {
      fail_here("the pickle goes back to a mark that it never set");
    }
    std::vector<ValueId> values(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return values;
  }

  ValueId top() const {  // NOLINT(modernize-use-nodiscard): sometimes only asked whether there is one
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      fail_here("the pickle refers to the top of an empty stack");
    }
    return stack_.back();
  }

  void memoize(std::uint64_t index) {
    // A pickle has fewer values than bytes, and numbers them from 0.
    if (index > pickle_.size()) {
      fail_here("the pickle must number its values from 0, got number ", index, " in ", pickle_.size(), " bytes");
    }
    if (index >= memo_.size()) {
      memo_.resize(index + 1, kNoValue);
    }
    memo_[index] = top();
    memoized_ = std::max(memoized_, index + 1);
  }

  void recall(std::uint64_t index) {
    if (index >= memo_.size() || memo_[index] == kNoValue) {
      fail_here("the pickle refers to its value number ", index, ", which it has not");
    }
    push(memo_[index]);
  }

  void set_items(ValueId dict, const std::vector<ValueId>& items) {
    if (items.size() % 2 != 0) {
      fail_here("a dictionary needs a value for each key, got ", items.size(), " items");
    }
    for (std::size_t index = 0; index < items.size(); index += 2) {
      values_.set_item(dict, items[index], items[index + 1]);
    }
  }

  void set_items_to_mark() {
    const std::vector<ValueId> items = pop_to_mark();
    set_items(top(), items);
  }

  void stack_global() {
    const std::vector<ValueId> names = pop_many(2);
    push(values_.global(find_global(values_.text(names[0]), values_.text(names[1]), where())));
  }

  // --- the opcodes: what torch.save writes under the protocols 2 to 5 ---------------------------------------------------------

  // True at the end of the pickle.
  bool step(std::uint8_t opcode) {
    opcode_at_ = at_ - 1;
    switch (opcode) {
      case '.':
        return true;
      case 0x80:  // PROTO
        check_protocol(take<std::uint8_t>());
        break;
      case 0x95:  // FRAME: how much to read at once
        take<std::uint64_t>();
        break;
      case '(':
        marks_.push_back(stack_.size());
        break;
      case '0':
        pop();
        break;
      case 'q':
        memoize(take<std::uint8_t>());
        break;
      case 'r':
        memoize(take<std::uint32_t>());
        break;
      case 0x94:  // MEMOIZE
        memoize(memoized_);
        break;
      case 'h':
        recall(take<std::uint8_t>());
        break;
      case 'j':
        recall(take<std::uint32_t>());
        break;
      default:
        if (!step_value(opcode) && !step_container(opcode)) {
          refuse(opcode);
        }
    }
    return false;
  }

  bool step_value(std::uint8_t opcode) {
    switch (opcode) {
      case 'N':
        push(values_.none());
        return true;
      case 0x88:
      case 0x89:  // NEWTRUE, NEWFALSE
        push(values_.boolean(opcode == 0x88));
        return true;
      case 'K':
        push(values_.integer(take<std::uint8_t>()));
        return true;
      case 'M':
        push(values_.integer(take<std::uint16_t>()));
        return true;
      case 'J':
        push(values_.integer(take<std::int32_t>()));
        return true;
      case 0x8A:  // LONG1
        push(values_.integer(take_long(take<std::uint8_t>())));
        return true;
      case 'G':
        take<std::uint64_t>();
        push(values_.other());
        return true;
      case 0x8C:  // SHORT_BINUNICODE
        push(values_.string(take_text(take<std::uint8_t>())));
        return true;
      case 'X':
        push(values_.string(take_text(take<std::uint32_t>())));
        return true;
      case 0x8D:  // BINUNICODE8
        push(values_.string(take_text(take<std::uint64_t>())));
        return true;
      default:
        return false;
    }
  }

  bool step_container(std::uint8_t opcode) {
    switch (opcode) {
      case ')':
        push(values_.tuple({}));
        return true;
      case 0x85:
      case 0x86:
      case 0x87:  // TUPLE1 to TUPLE3
        push(values_.tuple(pop_many(opcode - 0x84U)));
        return true;
      case 't':
        push(values_.tuple(pop_to_mark()));
        return true;
      case '}':
        push(values_.dict());
        return true;
      case 's':
        set_item();
        return true;
      case 'u':
        set_items_to_mark();
        return true;
      case ']':
        push(values_.other());  // only a user's attributes have lists, and those are not looked at
        return true;
      case 'a':
        pop();
        top();
        return true;
      case 'e':
        pop_to_mark();
        top();
        return true;
      case 'c': {
        const std::string_view module = take_line();
        push(values_.global(find_global(module, take_line(), where())));
        return true;
      }
      case 0x93:
        stack_global();
        return true;
      case 'R': {
        const std::vector<ValueId> call = pop_many(2);
        push(values_.call(call[0], call[1]));
        return true;
      }
      case 'Q':
        push(values_.storage(pop()));
        return true;
      default:
        return false;
    }
  }

  void set_item() {
    const std::vector<ValueId> item = pop_many(2);
    set_items(top(), item);
  }

  void check_protocol(std::uint8_t protocol) const {
    constexpr std::uint8_t kFirst = 2;
    constexpr std::uint8_t kLast = 5;
    if (protocol < kFirst || protocol > kLast) {
      fail_here("the pickle's protocol must be ", int{kFirst}, " to ", int{kLast}, ", got ", int{protocol});
    }
  }

  [[noreturn]] void refuse(std::uint8_t opcode) const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const std::string code{'0', 'x', kDigits[opcode >> 4U], kDigits[opcode & 0xFU]};
    fail_here("a saved tensor has no use for the pickle opcode ", code,
              ", and no other is run; save a plain torch.Tensor with torch.save's default protocol");
  }

  std::span<const std::byte> pickle_;
  const PickleSource& source_;
  PickleValues values_;
  std::uint64_t at_ = 0;
  std::uint64_t opcode_at_ = 0;
  std::vector<ValueId> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<ValueId> memo_;
  std::uint64_t memoized_ = 0;
};

}  // namespace

PickledTensor read_pickled_tensor(std::span<const std::byte> pickle, const PickleSource& source) {
  return Unpickler(pickle, source).read();
}

}  // namespace msprobe::read
