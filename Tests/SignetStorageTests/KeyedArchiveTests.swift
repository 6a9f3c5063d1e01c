import Foundation
import SignetStorage
import Testing

/// An object with a member of each type that the ForgeRock SDK archives.
///
/// Foundation archives only classes at the top level of a module.
final class ArchivedSample: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}
    required init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {
        coder.encode("Harbor Bank" as NSString, forKey: "issuer")
        coder.encode("Zürich 銀行 🏦" as NSString, forKey: "unicode")
        coder.encode(nil, forKey: "nothing")
        coder.encode(1_735_689_600.25, forKey: "timeAdded")
        coder.encode(true, forKey: "lock")
        coder.encode(Int64(-7), forKey: "negative")
        coder.encode(Int64(300), forKey: "digits")
        coder.encode(Date(timeIntervalSinceReferenceDate: 12.5) as NSDate, forKey: "expires")
    }
}

@Suite("Archives of NSKeyedArchiver")
struct KeyedArchiveTests {
    private static func archived(_ root: NSObject) throws -> [UInt8] {
        Array(try NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: true))
    }

    @Test("An archive of Foundation's NSKeyedArchiver is read, with the class name without its module")
    func readsFoundationsArchive() throws {
        let root = try #require(try KeyedArchive(Self.archived(ArchivedSample())).roots().first)
        let object = try #require(root)
        #expect(object.className == "ArchivedSample")
        #expect(try object.text("issuer") == "Harbor Bank")
        #expect(try object.text("unicode") == "Zürich 銀行 🏦")
        #expect(try object.text("nothing") == nil && object.text("absent") == nil)
        #expect(try object.number("timeAdded") == 1_735_689_600.25)
        #expect(try object.bool("lock") == true)
        #expect(try object.integer("negative") == -7 && object.integer("digits") == 300)
        #expect(try object.date("expires") == Date(timeIntervalSinceReferenceDate: 12.5))
    }

    @Test("The elements of an archived array are the roots")
    func readsArchivedArray() throws {
        let array = NSArray(array: [ArchivedSample(), "text" as NSString, ArchivedSample()])
        let roots = try KeyedArchive(Self.archived(array)).roots()
        let names = roots.map { $0?.className }
        #expect(names == ["ArchivedSample", nil, "ArchivedSample"])
    }

    @Test("A member of another type is an error that names it and repeats no content")
    func refusesOtherTypes() throws {
        let root = try #require(try KeyedArchive(Self.archived(ArchivedSample())).roots().first)
        let object = try #require(root)
        #expect(throws: ArchiveError("issuer", "is not a number")) { try object.number("issuer") }
        #expect(throws: ArchiveError("lock", "is not a string")) { try object.text("lock") }
        #expect(throws: ArchiveError("timeAdded", "is not a Boolean value")) { try object.bool("timeAdded") }
        #expect(throws: ArchiveError("timeAdded", "is not an integer")) { try object.integer("timeAdded") }
        #expect(throws: ArchiveError("digits", "is not a date")) { try object.date("digits") }
    }

    @Test("A property list of another archiver, of another version or without a root is refused")
    func refusesOtherPropertyLists() throws {
        let lists: [[String: Any]] = [
            [:], ["$archiver": "Other", "$version": 100_000], ["$archiver": "NSKeyedArchiver", "$version": 100_001],
            ["$archiver": "NSKeyedArchiver", "$version": 100_000, "$objects": [String](), "$top": [String: Int]()],
        ]
        for list in lists {
            let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            #expect(throws: ArchiveError.self, "\(list)") { try KeyedArchive(Array(bytes)) }
        }
        #expect(throws: ArchiveError.self) { try KeyedArchive(Array("<?xml".utf8)) }
    }

    /// A list of objects with offsets of two bytes and references of one byte; the first object is the top.
    private func list(_ objects: [[UInt8]]) -> [UInt8] {
        var (bytes, offsets) = (Array("bplist00".utf8), [UInt8]())
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [objects.count, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        return bytes
    }

    @Test("A text of UTF-16 becomes the same text, and half of a surrogate pair is refused")
    func readsUTF16() throws {
        let texts: [(units: [UInt8], text: String)] = [
            ([0x61, 0x00, 0xE4], "ä"), ([0x61, 0xFF, 0xFD], "\u{FFFD}"), ([0x62, 0xD8, 0x3D, 0xDD, 0x11], "🔑"),
        ]
        for (units, text) in texts {
            let value = try BinaryPropertyList.value(of: list([units]))
            #expect(value == .string(text))
        }
        for units in [[0x61, 0xD8, 0x3D], [0x61, 0xDD, 0x11], [0x62, 0xDD, 0x11, 0xD8, 0x3D]] as [[UInt8]] {
            #expect(throws: ArchiveError("object", "a string is not UTF-16")) { try BinaryPropertyList.value(of: list([units])) }
        }
    }

    @Test("A list that contains itself, and one that refers to a long text a million times, are refused")
    func refusesHostileLists() {
        #expect(throws: ArchiveError.self) { try BinaryPropertyList.value(of: list([[0xA1, 0]])) }
        // Each of the lists refers to the next one 200 times; the last one to a text of 255 bytes.
        let lists = (1...5).map { [0xAF, 0x10, 200] + [UInt8](repeating: UInt8($0), count: 200) }
        let text = [0x5F, 0x10, 255] + [UInt8](repeating: 0x61, count: 255)
        #expect(throws: ArchiveError.self) { try BinaryPropertyList.value(of: list(lists + [text])) }
        #expect(throws: Never.self) { try BinaryPropertyList.value(of: list([[0xA2, 1, 1], text])) }
    }
}
