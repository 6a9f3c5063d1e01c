import Foundation
import SignetCore
import SignetStorage

/// Reads the JSON files of an export: one file, or all files in a directory and in the directories below it.
///
/// Symbolic links, hidden files and files that do not end in `.json` are not read, except a file that is named itself.
struct ExportFiles {
    private let limits: ImportLimits
    private var paths: [String] = []
    private var entries = 0
    private var size = 0

    init(_ limits: ImportLimits) { self.limits = limits }

    /// Calls a closure with each file, in the order of the paths.
    /// - Parameters:
    ///   - path: The path of a file or a directory.
    ///   - limits: The limits.
    ///   - body: Receives the path of a file and its JSON.
    /// - Throws: ``JourneyImportError`` for the first file that cannot be read, and what the closure throws.
    static func each(
        at path: String, _ limits: ImportLimits, _ body: (String, JSONValue) throws(JourneyImportError) -> Void
    ) throws(JourneyImportError) {
        var files = ExportFiles(limits)
        guard let status = FileStatus(at: path, followsLinks: true) else {
            throw JourneyImportError(.notFound, path, "there is no such file or directory, or it cannot be read")
        }
        if status.isDirectory {
            try files.list(path, depth: 0)
        } else {
            files.paths = [path]
        }
        for file in files.paths { try body(file, try files.json(of: file)) }
    }

    /// Returns the directory of an export: the one that is named, or that of the file that is named.
    static func root(of path: String) -> String {
        if FileStatus(at: path, followsLinks: true)?.isDirectory == true { return path }
        return directory(of: path)
    }

    private static func directory(of path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

    /// Returns the text of a script in a file of its own.
    /// - Parameters:
    ///   - name: The path of the script, relative to the directory of the file that names it.
    ///   - file: The path of that file.
    ///   - root: The directory of the export, outside of which nothing is read; nil for no files at all.
    ///   - limits: The limits.
    /// - Returns: The text, or the reason why it is not known.
    static func script(_ name: String, besides file: String, root: String?, _ limits: ImportLimits) -> ScriptSource {
        guard let root, let path = path(of: name, besides: file, root: root) else { return .failure(.outside(name)) }
        guard !path.leavesExport else { return .failure(.unreadable(name)) }
        let descriptor = open(path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return .failure([ENOENT, ENOTDIR].contains(errno) ? .missing(name) : .unreadable(name)) }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isFile else { return .failure(.unreadable(name)) }
        guard status.size <= limits.scriptSize else { return .failure(.tooLarge(limits.scriptSize)) }
        guard let bytes = try? PrivateFile.contents(of: descriptor, path.text, limit: status.size),
            let text = String(validating: bytes, as: UTF8.self)
        else { return .failure(.unreadable(name)) }
        return .success(text)
    }

    /// Returns the path of a script; nil for one outside of the export.
    /// - Returns: The path, and true when a symbolic link on it leads to another place.
    private static func path(of name: String, besides file: String, root: String) -> (text: String, leavesExport: Bool)? {
        var parts = directory(of: file).split(separator: "/", omittingEmptySubsequences: true)
        let rootParts = root.split(separator: "/", omittingEmptySubsequences: true)
        for (index, part) in name.split(separator: "/", omittingEmptySubsequences: true).enumerated() {
            // Only the first step can lead upward: `fr-config-manager` has the sources beside the directory of its JSON files.
            if part == "..", index == 0 { _ = parts.popLast() } else { parts.append(part) }
        }
        guard !parts.dropFirst(rootParts.count).contains(".."), parts.starts(with: rootParts) else { return nil }
        let start = file.hasPrefix("/") ? "/" : ""
        let directories = (rootParts.count..<max(parts.count, rootParts.count)).dropFirst().map { count in
            start + parts.prefix(count).joined(separator: "/")
        }
        let leavesExport = directories.contains { FileStatus(at: $0)?.isDirectory == false }
        return (start + parts.joined(separator: "/"), leavesExport)
    }

    private mutating func list(_ directory: String, depth: Int) throws(JourneyImportError) {
        guard depth <= limits.directoryDepth else {
            throw JourneyImportError(.tooLarge, directory, "directories are nested more than \(limits.directoryDepth) times")
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            throw JourneyImportError(.unreadable, directory, "the directory cannot be read")
        }
        for name in names where !name.hasPrefix(".") {
            entries += 1
            guard entries <= limits.entries else {
                throw JourneyImportError(.tooLarge, directory, "there are more than \(limits.entries) files")
            }
            let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
            guard let status = FileStatus(at: path) else { continue }
            if status.isDirectory { try list(path, depth: depth + 1) }
            if status.isFile, name.hasSuffix(".json") { paths.append(path) }
        }
    }

    private mutating func json(of path: String) throws(JourneyImportError) -> JSONValue {
        var bytes = try self.bytes(of: path)[...]
        // Some editors write a byte order mark before the first character.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSON.value(of: bytes)
        } catch {
            throw JourneyImportError(.notJSON, path, error.description)
        }
        guard value.isStorable else {
            throw JourneyImportError(.tooLarge, path, "values are nested in each other more than 64 times")
        }
        return value
    }

    private mutating func bytes(of path: String) throws(JourneyImportError) -> [UInt8] {
        // A named pipe in a directory must not block the server.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0, let status = FileStatus(of: descriptor) else {
            if descriptor >= 0 { close(descriptor) }
            throw JourneyImportError(.unreadable, path, "the file cannot be read")
        }
        defer { close(descriptor) }
        guard status.isFile else { throw JourneyImportError(.unreadable, path, "this is neither a file nor a directory") }
        size += status.size
        guard status.size <= limits.fileSize else {
            throw JourneyImportError(.tooLarge, path, "the file is larger than \(limits.fileSize >> 20) MiB")
        }
        guard size <= limits.totalSize else {
            throw JourneyImportError(.tooLarge, path, "with this file the export is larger than \(limits.totalSize >> 20) MiB")
        }
        do throws(StoreError) {
            return try PrivateFile.contents(of: descriptor, path, limit: status.size)
        } catch {
            throw JourneyImportError(.unreadable, path, "the file cannot be read, or changes while it is read")
        }
    }
}
