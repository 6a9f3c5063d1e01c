#if canImport(CGDBus) && canImport(Glibc)
import CGDBus

/// Values between Swift and GLib's GVariant.
extension GDBusLibrary {
    /// The greatest depth of values in values that Signet sends and reads; the specification allows 64.
    private static let maxDepth = 32

    /// Returns true when GLib can build the value.
    func isValid(_ value: DBusValue, depth: Int = 0) -> Bool {
        guard depth < Self.maxDepth else { return false }
        switch value {
        case .string(let text): return !text.utf8.contains(0)
        case .objectPath(let path): return functions.g_variant_is_object_path(path) != 0
        case .signature(let signature): return functions.g_variant_is_signature(signature) != 0
        case .array(let element, let values):
            // The three characters are types of GVariant that stand for several types.
            return functions.g_variant_type_string_is_valid(element) != 0 && !element.contains { "*?r".contains($0) }
                && values.allSatisfy { $0.type == element && isValid($0, depth: depth + 1) }
        case .entry(let key, let value):
            return key.type.utf8.count == 1 && key.type != "v" && isValid(key, depth: depth + 1)
                && isValid(value, depth: depth + 1)
        case .structure(let fields): return !fields.isEmpty && fields.allSatisfy { isValid($0, depth: depth + 1) }
        case .variant(let inner): return isValid(inner, depth: depth + 1)
        default: return true
        }
    }

    /// Returns a new GVariant with the value, which must be valid.
    ///
    /// Its reference is floating: the GVariant that takes it as a part owns it.
    func variant(_ value: DBusValue) -> OpaquePointer? {
        switch value {
        case .byte(let number): return functions.g_variant_new_byte(number)
        case .boolean(let isTrue): return functions.g_variant_new_boolean(isTrue ? 1 : 0)
        case .int16(let number): return functions.g_variant_new_int16(number)
        case .uint16(let number): return functions.g_variant_new_uint16(number)
        case .int32(let number): return functions.g_variant_new_int32(number)
        case .uint32(let number): return functions.g_variant_new_uint32(number)
        case .int64(let number): return functions.g_variant_new_int64(number)
        case .uint64(let number): return functions.g_variant_new_uint64(number)
        case .double(let number): return functions.g_variant_new_double(number)
        case .string(let text): return functions.g_variant_new_string(text)
        case .objectPath(let path): return functions.g_variant_new_object_path(path)
        case .signature(let signature): return functions.g_variant_new_signature(signature)
        case .handle(let index): return functions.g_variant_new_handle(index)
        case .array(let element, let values):
            let parts = values.map { variant($0) }
            // A GVariantType begins with the characters of its type; GLib's own macro converts a text in this way.
            return element.withCString { functions.g_variant_new_array(OpaquePointer($0), parts, parts.count) }
        case .entry(let key, let value): return functions.g_variant_new_dict_entry(variant(key), variant(value))
        case .structure(let fields):
            let parts = fields.map { variant($0) }
            return functions.g_variant_new_tuple(parts, parts.count)
        case .variant(let inner): return functions.g_variant_new_variant(variant(inner))
        }
    }

    /// Reads a GVariant.
    /// - Parameters:
    ///   - variant: The GVariant, which GLib has checked.
    ///   - remaining: The number of values that may be read, which is reduced.
    ///   - depth: The number of values around this one.
    /// - Returns: The value; nil when it has more values than `remaining`, is too deep, or is of a type that D-Bus does not have.
    func value(_ variant: OpaquePointer?, _ remaining: inout Int, depth: Int = 0) -> DBusValue? {
        guard let variant, remaining > 0, depth < Self.maxDepth,
            let type = functions.g_variant_get_type_string(variant).map({ String(cString: $0) })
        else { return nil }
        remaining -= 1
        switch type {
        case "y": return .byte(functions.g_variant_get_byte(variant))
        case "b": return .boolean(functions.g_variant_get_boolean(variant) != 0)
        case "n": return .int16(functions.g_variant_get_int16(variant))
        case "q": return .uint16(functions.g_variant_get_uint16(variant))
        case "i": return .int32(functions.g_variant_get_int32(variant))
        case "u": return .uint32(functions.g_variant_get_uint32(variant))
        case "x": return .int64(functions.g_variant_get_int64(variant))
        case "t": return .uint64(functions.g_variant_get_uint64(variant))
        case "d": return .double(functions.g_variant_get_double(variant))
        case "s": return .string(text(variant))
        case "o": return .objectPath(text(variant))
        case "g": return .signature(text(variant))
        case "h": return .handle(functions.g_variant_get_handle(variant))
        default: break
        }
        guard let parts = contents(variant, &remaining, depth: depth + 1) else { return nil }
        switch type.utf8.first {
        case UInt8(ascii: "a"): return .array(of: String(type.dropFirst()), parts)
        case UInt8(ascii: "("): return .structure(parts)
        case UInt8(ascii: "{"): return parts.count == 2 ? .entry(parts[0], parts[1]) : nil
        case UInt8(ascii: "v"): return parts.count == 1 ? .variant(parts[0]) : nil
        default: return nil
        }
    }

    /// Returns the values in a container: of a variant, its only one.
    private func contents(_ variant: OpaquePointer, _ remaining: inout Int, depth: Int) -> [DBusValue]? {
        let count = functions.g_variant_n_children(variant)
        guard count <= remaining else { return nil }
        var parts: [DBusValue] = []
        parts.reserveCapacity(count)
        for index in 0..<count {
            let child = functions.g_variant_get_child_value(variant, index)
            defer { functions.g_variant_unref(child) }
            guard let part = value(child, &remaining, depth: depth) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private func text(_ variant: OpaquePointer) -> String {
        functions.g_variant_get_string(variant, nil).map { String(cString: $0) } ?? ""
    }
}
#endif
