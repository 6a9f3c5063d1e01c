package import Foundation

/// An archive of `NSKeyedArchiver`, read without creating objects of the classes that it names.
package struct KeyedArchive: Sendable {
    private let objects: [PropertyListValue]
    private let top: Int

    /// Returns true when a property list is a keyed archive.
    package static func isOne(_ list: PropertyListValue) -> Bool {
        list.dictionary?["$archiver"]?.string == "NSKeyedArchiver"
    }

    /// Reads an archive.
    /// - Throws: ``ArchiveError`` when the bytes are not an archive that `NSKeyedArchiver` writes.
    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        try self.init(try BinaryPropertyList.value(of: bytes))
    }

    /// Reads an archive from its property list.
    package init(_ list: PropertyListValue) throws(ArchiveError) {
        guard Self.isOne(list) else { throw ArchiveError("$archiver", "not an archive of NSKeyedArchiver") }
        guard list.dictionary?["$version"] == .integer(100_000) else {
            throw ArchiveError("$version", "the archive has an unknown version")
        }
        guard let objects = list.dictionary?["$objects"]?.array,
            case .reference(let top)? = list.dictionary?["$top"]?.dictionary?["root"]
        else { throw ArchiveError("$top", "the archive has no root object") }
        (self.objects, self.top) = (objects, top)
    }

    /// The objects of the archive: its root, or the elements when the root is an array, a set or a dictionary.
    /// - Returns: The objects, and nil for each element that is not an object with members.
    package func roots() throws(ArchiveError) -> [ArchivedObject?] {
        let root = try value(of: .reference(top))
        guard let root = root as ArchivedValue?, case .list(let elements) = root else { return [root?.object] }
        var roots: [ArchivedObject?] = []
        for element in elements { roots.append(try value(of: element)?.object) }
        return roots
    }

    /// A value of an archive, after its reference was resolved.
    enum ArchivedValue {
        case plain(PropertyListValue)
        case list([PropertyListValue])
        case object(ArchivedObject)

        var object: ArchivedObject? { if case .object(let object) = self { object } else { nil } }
    }

    /// Returns the value of a member; nil for `$null`.
    func value(of member: PropertyListValue) throws(ArchiveError) -> ArchivedValue? {
        guard case .reference(let index) = member else { return .plain(member) }
        guard objects.indices.contains(index) else { throw ArchiveError("$objects", "a referenced object is missing") }
        guard index != 0 else { return nil }
        guard case .dictionary(let members) = objects[index] else { return .plain(objects[index]) }
        guard case .reference(let classIndex)? = members["$class"], objects.indices.contains(classIndex),
            let name = objects[classIndex].dictionary?["$classname"]?.string
        else { throw ArchiveError("$class", "an object has no class") }
        switch name {
        case "NSString", "NSMutableString":
            guard let text = members["NS.string"] else { throw ArchiveError("NSString", "a string has no value") }
            return .plain(text)
        case "NSDate":
            guard case .real(let seconds)? = members["NS.time"] else { throw ArchiveError("NSDate", "a date has no time") }
            return .plain(.date(Date(timeIntervalSinceReferenceDate: seconds)))
        case "NSData", "NSMutableData":
            guard let data = members["NS.data"] else { throw ArchiveError("NSData", "data has no bytes") }
            return .plain(data)
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary":
            guard let elements = members["NS.objects"]?.array else { throw ArchiveError(name, "a list has no elements") }
            return .list(elements)
        default: return .object(ArchivedObject(className: name, members: members, archive: self))
        }
    }
}

/// An object of a keyed archive: the name of its class, and its members.
package struct ArchivedObject: Sendable {
    /// The name of the class without its module, for example `Account`.
    package let className: String
    private let members: [String: PropertyListValue]
    private let archive: KeyedArchive

    init(className: String, members: [String: PropertyListValue], archive: KeyedArchive) {
        self.className = className.split(separator: ".").last.map(String.init) ?? className
        (self.members, self.archive) = (members, archive)
    }

    private func plain(_ name: String) throws(ArchiveError) -> PropertyListValue? {
        guard let member = members[name], let value = try archive.value(of: member) else { return nil }
        guard case .plain(let plain) = value else { throw ArchiveError(name, "is of another type") }
        return plain
    }

    /// Returns a text; nil when it is absent or `$null`.
    package func text(_ name: String) throws(ArchiveError) -> String? {
        guard let value = try plain(name) else { return nil }
        guard let text = value.string else { throw ArchiveError(name, "is not a string") }
        return text
    }

    /// Returns an integer; nil when it is absent.
    package func integer(_ name: String) throws(ArchiveError) -> Int64? {
        switch try plain(name) {
        case nil: return nil
        case .integer(let value)?: return value
        default: throw ArchiveError(name, "is not an integer")
        }
    }

    /// Returns a number; nil when it is absent.
    package func number(_ name: String) throws(ArchiveError) -> Double? {
        switch try plain(name) {
        case nil: return nil
        case .integer(let value)?: return Double(value)
        case .real(let value)? where value.isFinite: return value
        default: throw ArchiveError(name, "is not a number")
        }
    }

    /// Returns a Boolean value; nil when it is absent.
    package func bool(_ name: String) throws(ArchiveError) -> Bool? {
        switch try plain(name) {
        case nil: return nil
        case .bool(let value)?: return value
        default: throw ArchiveError(name, "is not a Boolean value")
        }
    }

    /// Returns a date; nil when it is absent or `$null`.
    package func date(_ name: String) throws(ArchiveError) -> Date? {
        switch try plain(name) {
        case nil: return nil
        case .date(let value)?: return value
        default: throw ArchiveError(name, "is not a date")
        }
    }
}
